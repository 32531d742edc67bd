import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { generate } from '../../../lib/llm/generate.ts'
import type { Message } from '../../../lib/llm/message.ts'
import type { ToolChoice } from '../../../lib/llm/model.ts'
import { open, request, serve, streamed, WEATHER } from './server.ts'
import type { WireName } from './wires.ts'

type Body = Record<string, unknown>
type Recording = { uri: string; request: Body; response: Body }[]

const recording = async (name: string): Promise<Recording> =>
  JSON.parse(
    await readFile(
      new URL(`../../fixtures/provider-recordings/${name}.json`, import.meta.url),
      'utf8',
    ),
  )

const TIME = {
  name: 'get_time',
  description: 'Get the current time in a timezone',
  inputSchema: {
    type: 'object',
    properties: { timezone: { type: 'string' } },
    required: ['timezone'],
    additionalProperties: false,
  },
}

const send = async (wire: WireName, toolChoice: ToolChoice, messages?: Message[]) => {
  const { fetch, received } = serve(streamed(wire, { text: 'Sunny', end: 'done' }))
  const tools = toolChoice === 'auto' || toolChoice === 'none' ? [WEATHER] : [WEATHER, TIME]
  const changes = { system: '', tools, toolChoice, ...(messages && { messages }) }
  await generate(await open(wire, fetch), request(changes))
  const [first] = received
  if (!first) throw new Error('Nothing was sent.')
  return first
}

/** The recordings were made by another client, so only what both must agree on is compared. */
const RECORDED = [
  ['anthropic', 'anthropic', 'tool_choice', '/v1/messages'],
  ['openai', 'openai_responses', 'tool_choice', '/v1/responses'],
  ['openai-compatible', 'openai', 'tool_choice', '/v1/chat/completions'],
  ['google', 'google', 'toolConfig', '/v1beta/models/gemini-2.5-flash:streamGenerateContent'],
] as const

const CHOICES: [string, ToolChoice][] = [
  ['auto', 'auto'],
  ['required', 'required'],
  ['none', 'none'],
  ['list_single', { tool: 'get_weather' }],
]

describe.each(RECORDED)('a request of %s', (wire, name, choiceKey, path) => {
  it.each(CHOICES)('with tool choice %s is what was recorded', async (file, choice) => {
    const [recorded] = await recording(`${file}-${name}`)
    const { body, url } = await send(wire, choice)
    expect(new URL(url).pathname).toBe(path)
    expect(body[choiceKey]).toEqual(recorded?.request[choiceKey])
  })

  it('names its tools in the recorded places', async () => {
    const [recorded] = await recording(`auto-${name}`)
    const { body } = await send(wire, 'auto')
    expect(namesIn(body.tools)).toEqual(namesIn(recorded?.request.tools))
    expect(JSON.stringify(body.tools)).toContain(WEATHER.description)
    expect(JSON.stringify(body.tools)).toContain('"city":{"type":"string"}')
  })
})

/** Every place of a tool's name, as a path. */
const namesIn = (value: unknown, path = ''): string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) =>
    key === 'name' ? [`${path}/${key}=${item}`] : namesIn(item, `${path}/${key}`),
  )
}

describe('xAI, which nobody recorded', () => {
  it.each([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [{ tool: 'get_weather' }, { type: 'function', name: 'get_weather' }],
  ] as const)('takes tool choice %j as %j', async (choice, expected) => {
    const { body, url } = await send('xai', choice)
    expect(url).toBe('https://api.x.ai/v1/responses')
    expect(body.tool_choice).toEqual(expected)
    expect(namesIn(body.tools)).toContain('/0/name=get_weather')
  })
})

describe('a call and its result', () => {
  const conversation = (toolCallId: string): Message[] => [
    { role: 'user', text: "What's the weather in Paris?" },
    {
      role: 'assistant',
      parts: [
        {
          type: 'tool-call',
          toolCallId,
          toolName: 'get_weather',
          input: '{"city":"Paris"}',
          state: 'complete',
        },
      ],
    },
    {
      role: 'tool',
      results: [
        { toolCallId, toolName: 'get_weather', text: 'Sunny, 22C in Paris', isError: false },
      ],
    },
  ]

  it('go to Anthropic as recorded', async () => {
    const [, second] = await recording('auto-anthropic')
    const { body } = await send('anthropic', 'auto', conversation('toolu_01WN4AuToBnJyXNQXwQBBebj'))
    expect(body.messages).toMatchObject(withoutErrorFlags(second?.request.messages))
  })

  it('go to Chat Completions as recorded', async () => {
    const [, second] = await recording('auto-openai')
    const { body } = await send(
      'openai-compatible',
      'auto',
      conversation('call_aDdJTteHrpMdhdkEkyxjxEHH'),
    )
    expect(body.messages).toEqual(second?.request.messages)
  })

  it('go to the Responses API with the arguments as text', async () => {
    for (const wire of ['openai', 'xai'] as const) {
      const { body } = await send(wire, 'auto', conversation('call_1'))
      expect(body.input).toMatchObject([
        { role: 'user' },
        {
          type: 'function_call',
          call_id: 'call_1',
          name: 'get_weather',
          arguments: '{"city":"Paris"}',
        },
        { type: 'function_call_output', call_id: 'call_1', output: 'Sunny, 22C in Paris' },
      ])
    }
  })

  it('go to Gemini with the arguments as an object', async () => {
    const { body } = await send('google', 'auto', conversation('call_1'))
    expect(body.contents).toMatchObject([
      { role: 'user' },
      {
        role: 'model',
        parts: [{ functionCall: { name: 'get_weather', args: { city: 'Paris' } } }],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'get_weather' } }] },
    ])
    expect(JSON.stringify(body.contents)).toContain('Sunny, 22C in Paris')
  })

  it('go nowhere as an empty message', async () => {
    const messages: Message[] = [
      { role: 'user', text: 'Hello' },
      { role: 'assistant', parts: [{ type: 'text', text: '' }] },
      { role: 'user', text: 'Are you there?' },
    ]
    const { body } = await send('anthropic', 'auto', messages)
    expect(JSON.stringify(body.messages)).not.toContain('assistant')
  })
})

/** `false` is the default, and the driver leaves it out. */
const withoutErrorFlags = (messages: unknown) =>
  JSON.parse(JSON.stringify(messages), (key, value) => (key === 'is_error' ? undefined : value))

describe('a request', () => {
  it('without tools has neither tools nor a choice', async () => {
    for (const [wire, , choiceKey] of RECORDED) {
      const { fetch, received } = serve(streamed(wire, { text: 'Hi', end: 'done' }))
      await generate(await open(wire, fetch), request({ tools: [], toolChoice: 'required' }))
      expect(received[0]?.body).not.toHaveProperty(choiceKey)
      expect(received[0]?.body.tools ?? []).toEqual([])
    }
  })

  it('passes on the limit of the answer, and strictness where the wire has it', async () => {
    const { fetch, received } = serve(streamed('openai', { text: 'Hi', end: 'done' }))
    const tools = [{ ...WEATHER, strict: true }]
    await generate(await open('openai', fetch), request({ tools, maxOutputTokens: 77 }))
    expect(received[0]?.body).toMatchObject({
      max_output_tokens: 77,
      store: false,
      stream: true,
      tools: [{ name: 'get_weather', strict: true }],
    })
  })

  it('asks a compatible server to count its tokens', async () => {
    const { body } = await send('openai-compatible', 'auto')
    expect(body.stream_options).toEqual({ include_usage: true })
  })
})
