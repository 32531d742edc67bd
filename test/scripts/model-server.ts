import { createServer, type IncomingMessage } from 'node:http'

type Message = { role: string; content: string | null; tool_calls?: unknown[] }
type Body = { messages: Message[]; tools?: { function: { name: string } }[]; stream?: boolean }
type Turn = { text: string } | { calls: { name: string; arguments: object }[] }

/**
 * An OpenAI-compatible server whose model plays the demo's two parts, from what it reads alone:
 * the real driver, wire and key, and a model that does as it is told.
 */
export const startModelServer = async (key: string) => {
  const seen: Body[] = []
  const refused: string[] = []
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== `Bearer ${key}`) {
      refused.push(String(request.url))
      response
        .writeHead(401, { 'content-type': 'application/json' })
        .end('{"error":{"message":"no"}}')
      return
    }
    const body = JSON.parse(await textOf(request)) as Body
    seen.push(body)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of chunksOf(turnOf(body))) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    refused,
    close: () => new Promise<void>(resolve => server.close(() => resolve())),
  }
}

const turnOf = ({ messages, tools = [] }: Body): Turn => {
  const prompt = messages.find(message => message.role === 'user')?.content ?? ''
  const results = messages
    .filter(message => message.role === 'tool')
    .map(message => message.content ?? '')
  const offered = tools.map(tool => tool.function.name)
  return offered.includes('sub_agent') ? plan(prompt, results) : write(prompt, results)
}

const plan = (prompt: string, [time, product, answer]: string[]): Turn => {
  if (product === undefined)
    return {
      calls: [
        { name: 'time', arguments: { action: 'now' } },
        { name: 'calculator', arguments: { expression: '17 * 24' } },
      ],
    }
  if (answer !== undefined) return { text: `The note is here: ${answer}` }
  const target_agent_id = /agent_[0-9A-Z]+/.exec(prompt)?.[0]
  return {
    calls: [
      {
        name: 'sub_agent',
        arguments: { op: 'sub_agent', target_agent_id, prompt: `Note ${time} and ${product}.` },
      },
    ],
  }
}

const write = (prompt: string, [created, shared]: string[]): Turn => {
  if (shared !== undefined) return { text: JSON.parse(shared).public_url }
  if (created !== undefined)
    return {
      calls: [
        {
          name: 'media',
          arguments: { action: 'get_public_url', media_id: JSON.parse(created).media_id },
        },
      ],
    }
  const title = /Title the note "(.*?)"/.exec(prompt)?.[1]
  const content = `# ${title}\n\n${prompt.split('\n')[0]}\n`
  return {
    calls: [{ name: 'media', arguments: { action: 'create_media', filename: 'note', content } }],
  }
}

/** The turn as the chat completions wire streams it: arguments in pieces, usage at the end. */
const chunksOf = (turn: Turn): object[] => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'chatcmpl-test',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
  if ('text' in turn)
    return [chunk({ role: 'assistant', content: turn.text }), { ...chunk({}, 'stop'), usage }]
  const calls = turn.calls.flatMap(({ name, arguments: values }, index) => {
    const text = JSON.stringify(values)
    const half = Math.floor(text.length / 2)
    return [
      chunk({
        tool_calls: [
          {
            index,
            id: `call_${index}`,
            type: 'function',
            function: { name, arguments: text.slice(0, half) },
          },
        ],
      }),
      chunk({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] }),
    ]
  })
  return [
    chunk({ role: 'assistant', content: null }),
    ...calls,
    { ...chunk({}, 'tool_calls'), usage },
  ]
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}
