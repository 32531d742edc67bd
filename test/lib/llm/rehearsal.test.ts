import { describe, expect, it } from 'vitest'
import { generate } from '../../../lib/llm/generate.ts'
import { type Message, textOf, toolCalls } from '../../../lib/llm/message.ts'
import type { ModelTool } from '../../../lib/llm/model.ts'
import { openModel } from '../../../lib/llm/provider.ts'
import { REHEARSAL_RESULT_CHARS } from '../../../lib/llm/rehearsal-words.ts'

const tool = (name: string, properties: Record<string, unknown>): ModelTool => ({
  name,
  description: name,
  inputSchema: { type: 'object', properties, required: [], additionalProperties: false },
})

const TIME = tool('time', {
  action: { type: 'string', enum: ['now', 'format'] },
  epoch: { type: 'integer' },
})
const MAIL = tool('mail', { to: { type: 'string' }, kind: { type: 'string', enum: ['a', 'b'] } })
const PLUGIN = tool('garden__trees', { verb: { type: 'string', enum: ['plant', 'prune'] } })
const TOOLS = [TIME, MAIL, PLUGIN]

const ask = async (messages: Message[], tools = TOOLS) => {
  const model = await openModel({ provider: 'rehearsal', name: 'script' })
  return generate(model, { system: 'You are a gardener.', messages, tools })
}

const user = (...lines: string[]): Message => ({ role: 'user', text: lines.join('\n') })

/** Answers each call with what the platform would have stored. */
const answer = (calls: ReturnType<typeof toolCalls>, ...texts: string[]): Message => ({
  role: 'tool',
  results: calls.map(({ toolCallId, toolName }, index) => ({
    toolCallId,
    toolName,
    text: texts[index] ?? 'done',
    isError: (texts[index] ?? '').startsWith('Error'),
  })),
})

/** Runs a script to its end; the results are given out in the order of the calls. */
const run = async (messages: Message[], results: string[] = []) => {
  const steps: string[][] = []
  const history = [...messages]
  let given = 0
  for (;;) {
    const { message } = await ask(history)
    const calls = toolCalls(message)
    if (calls.length === 0) return { steps, text: textOf(message), history: [...history, message] }
    steps.push(calls.map(({ toolName, input }) => `${toolName} ${input}`))
    history.push(message, answer(calls, ...results.slice(given, given + calls.length)))
    given += calls.length
  }
}

describe('a script', () => {
  it('calls in one step the lines that stand together, and in the next those after a gap', async () => {
    const { steps } = await run([
      user(
        'Please:',
        '/time now {}',
        '/mail send {"to":"ada"}',
        '',
        '/time now {}',
        'and',
        '/time now',
      ),
    ])
    expect(steps).toEqual([
      ['time {"action":"now"}', 'mail {"to":"ada"}'],
      ['time {"action":"now"}'],
      ['time {"action":"now"}'],
    ])
  })

  it('puts the operation first, under the key that the schema has for it', async () => {
    const { steps } = await run([user('/garden:trees plant {"kind":"pear"}')])
    expect(steps).toEqual([['garden__trees {"verb":"plant","kind":"pear"}']])
  })

  it('names an operation that is not on offer, so that it can be refused by name', async () => {
    const { steps } = await run([user('/time stop {}')])
    expect(steps).toEqual([['time {"action":"stop"}']])
  })

  it.each(['garden:trees', 'garden_trees', 'garden__trees', 'garden-trees'])(
    'finds a plugin’s tool that the wire calls %s',
    async name => {
      const { message } = await ask([user('/garden:trees plant {}')], [tool(name, {})])
      expect(toolCalls(message)[0]?.toolName).toBe(name)
    },
  )

  it('calls as written a tool that is not on offer', async () => {
    const { steps } = await run([user('/weapon:laser fire {"at":"moon"}')])
    expect(steps).toEqual([['weapon:laser {"at":"moon"}']])
  })

  it('calls with broken text where its JSON is broken', async () => {
    const { message } = await ask([user('/time now {"epoch" 1}', '/time now {"epoch":')])
    expect(toolCalls(message)).toMatchObject([
      { input: '{"epoch" 1}', state: 'malformed' },
      { input: '{"epoch":', state: 'cut-off' },
    ])
  })

  it('is asked for again in the same words, with the same ids', async () => {
    const messages = [user('/time now {}', '/time now {}')]
    expect(await ask(messages)).toEqual(await ask(messages))
  })

  it('has ids of its own in each turn', async () => {
    const first = await run([user('/time now {}')])
    const second = await run([...first.history, user('/time now {}')])
    const ids = second.history.flatMap(message =>
      message.role === 'assistant' ? toolCalls(message).map(({ toolCallId }) => toolCallId) : [],
    )
    expect(new Set(ids).size).toBe(2)
  })

  it('goes on where it was although the history before it was shortened', async () => {
    const before = await run([user('/time now {}')])
    const messages = [...before.history, user('/time now {}', '', '/mail send {}')]
    const { message } = await ask(messages)
    const asked = [user('/time now {}', '', '/mail send {}'), message, answer(toolCalls(message))]
    expect(toolCalls((await ask(asked)).message)).toMatchObject([{ toolName: 'mail' }])
  })

  it('asks again only for the lines of a step that have no answer', async () => {
    const messages = [user('/time now {}', '/mail send {}')]
    const { message } = await ask(messages)
    const [first] = toolCalls(message)
    const partly = [...messages, message, answer(first ? [first] : [])]
    expect(toolCalls((await ask(partly)).message)).toMatchObject([
      { toolCallId: toolCalls(message)[1]?.toolCallId, toolName: 'mail' },
    ])
  })

  it('is not what an earlier message said', async () => {
    const { steps, text } = await run([user('/time now {}'), user('Thank you.')])
    expect(steps).toEqual([])
    expect(text).toContain('rehearsal')
  })
})

describe('a placeholder', () => {
  it('is the value in an earlier result, with its type', async () => {
    const { steps } = await run(
      [
        user(
          '/time now {}',
          '',
          '/mail send {"epoch":"{{1.epoch}}","to":["{{ 1.people.0.name }}"]}',
        ),
      ],
      ['{"epoch":17,"people":[{"name":"ada"}]}'],
    )
    expect(steps[1]).toEqual(['mail {"epoch":17,"to":["ada"]}'])
  })

  it('is text within a longer text', async () => {
    const { steps } = await run(
      [user('/time now {}', '/time now {}', '', '/mail send {"to":"{{2.a}} and {{1}}"}')],
      ['plain {{2}}', '{"a":{"b":1}}'],
    )
    expect(steps[1]).toEqual(['mail {"to":"{\\"b\\":1} and plain {{2}}"}'])
  })

  it.each(['{{1.nothing}}', '{{1.toString}}', '{{2.epoch}}', '{{9}}', '{{0}}'])(
    'that leads nowhere, as %s, is told instead of called',
    async placeholder => {
      const { steps, text } = await run(
        [user('/time now {}', '', `/mail send {"to":"x ${placeholder}"}`)],
        ['{"epoch":17}'],
      )
      expect(steps).toHaveLength(1)
      expect(text).toContain('rehearsal')
      expect(text).toContain(placeholder)
      expect(text).toContain('mail send: not called')
    },
  )
})

describe('the closing text', () => {
  it('says that no model was asked, and what came back of each call', async () => {
    const { text } = await run(
      [user('/time now {}', '/mail send {}')],
      ['{"epoch":17}', 'Error: no'],
    )
    expect(text).toContain('no model was asked')
    expect(text).toContain('1. time now: {"epoch":17}')
    expect(text).toContain('2. mail send (error): Error: no')
  })

  it('cuts a result at its length', async () => {
    const whole = 'x'.repeat(REHEARSAL_RESULT_CHARS)
    expect((await run([user('/time now')], [whole])).text).toContain(`: ${whole}`)
    const longer = await run([user('/time now')], [`${whole}y`])
    expect(longer.text).toContain(`${whole}…`)
    expect(longer.text).not.toContain('y…')
  })
})

describe('a message without a script', () => {
  it('is told what a rehearsal can do, with a line that works', async () => {
    const { text } = await run([user('How are you? / fine', '/ 1 2')])
    expect(text).toContain('no model was asked')
    const example = text.split('\n').find(line => line.startsWith('/')) ?? ''
    const { steps } = await run([user(example)])
    expect(steps).toEqual([['time {"action":"now"}']])
  })

  it('is told so without tools, too', async () => {
    const { message } = await ask([user('Hello')], [])
    expect(textOf(message)).toContain('No tools are on offer')
  })
})

describe('a rehearsal', () => {
  it('calls nothing where no tool may be called', async () => {
    const model = await openModel({ provider: 'rehearsal', name: 'script' })
    const request = { system: '', messages: [user('/time now {}')], tools: TOOLS }
    const { message } = await generate(model, { ...request, toolChoice: 'none' })
    expect(toolCalls(message)).toEqual([])
    expect(textOf(message)).toContain('may not be called')
  })

  it('counts tokens, so that costs show', async () => {
    const short = await ask([user('Hello')])
    const long = await ask([user(`Hello${' again'.repeat(400)}`)])
    expect(short.usage.inputTokens).toBeGreaterThan(0)
    expect(long.usage.inputTokens - short.usage.inputTokens).toBe(600)
    expect(short.usage.outputTokens).toBeGreaterThan(10)
  })

  it('gives without a stream what it gives with one', async () => {
    const model = await openModel({ provider: 'rehearsal', name: 'script' })
    const text = 'Hello'
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }]
    const { content } = await model.doGenerate({ prompt })
    const { message } = await ask([user(text)], [])
    expect(content).toEqual([{ type: 'text', text: textOf(message) }])
  })
})
