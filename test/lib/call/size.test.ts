import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { clip, MAX_DESCRIPTION_CHARS } from '../../../lib/call/description.ts'
import { callKey, getCall, ToolCall } from '../../../lib/call/tool-call.ts'
import type { Id } from '../../../lib/core/ids.ts'
import { MAX_INLINE_BYTES } from '../../../lib/data/large.ts'
import { getObject } from '../../../lib/data/objects.ts'
import { MAX_PROMPT_CHARS } from '../../../lib/task/create.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { type CallView, dataOf, startWorld, type World } from '../../world.ts'

const MAX_CHARS = 5_000
const ran: string[] = []

const operation = {
  parameters: z.object({ text: z.string() }),
  effect: 'idempotent' as const,
  describe: ({ text }: { text: string }) => `Take ${text}`,
}
const short = defineTool({
  name: 'short',
  description: 'Says as much as it is told to.',
  maxResultChars: MAX_CHARS,
  operations: {
    say: {
      ...operation,
      description: 'Say.',
      parameters: z.object({ length: z.int() }),
      describe: ({ length }) => `Say ${length}`,
      execute: async ({ parameters: { length } }) => 'x'.repeat(length),
    },
  },
})
const long = defineTool({
  name: 'long',
  description: 'Takes and returns anything.',
  maxResultChars: 10_000_000,
  operations: {
    take: {
      ...operation,
      description: 'Take.',
      execute: async ({ parameters: { text } }) => {
        ran.push(text)
        return text
      },
    },
    ask: {
      ...operation,
      description: 'Take, when allowed.',
      requiresApprovalByDefault: true,
      execute: async ({ parameters: { text } }) => {
        ran.push(text)
        return `${text.length}`
      },
    },
    fail_to_describe: {
      ...operation,
      description: 'Take.',
      requiresApprovalByDefault: true,
      describe: () => {
        throw new Error('It can not be described.')
      },
      execute: async () => 'fine',
    },
  },
})

let world: World
let agent: string

beforeAll(async () => {
  world = await startWorld([short, long])
  agent = await world.createAgent(['short', 'long'])
})
afterAll(() => world.stop())

const idOf = (answer: { body: { data?: unknown } }) =>
  (answer.body.data as { call_id: Id<'call'> }).call_id

/** A text whose JSON, in an object under `name`, has so many bytes. */
const textOf = (name: string, bytes: number) =>
  'y'.repeat(bytes - JSON.stringify({ [name]: '' }).length)

describe('a result', () => {
  it('is shown whole up to its tool’s limit', async () => {
    const answer = await world.run(agent, 'short.say', { length: MAX_CHARS })
    expect(answer.body.data).toMatchObject({ content: 'x'.repeat(MAX_CHARS) })
  })

  it('one character longer is kept whole elsewhere, with a preview in its place', async () => {
    const answer = await world.run(agent, 'short.say', { length: MAX_CHARS + 1 })
    const { content } = answer.body.data as { content: string }
    expect(content.length).toBeLessThanOrEqual(MAX_CHARS)
    const note = JSON.parse(content)
    expect(note).toMatchObject({
      truncated: true,
      original_size_chars: MAX_CHARS + 1,
      cap_chars: MAX_CHARS,
      preview: expect.stringMatching(/^x{2000}$/),
      hint: expect.any(String),
    })
    const whole = await getObject(note.full_output)
    expect(Buffer.from(whole ?? []).toString()).toBe('x'.repeat(MAX_CHARS + 1))
  })

  it.each([0, 1])('at the limit of an item and %i more survives', async more => {
    const overhead = JSON.stringify({ isError: false, content: '' }).length
    const text = 'z'.repeat(MAX_INLINE_BYTES - overhead + more)
    const answer = await world.run(agent, 'long.take', { text })
    expect((answer.body.data as { content: string }).content).toBe(text)
    const call = await getCall(idOf(answer))
    expect(Object.keys(call?.result ?? {})).toEqual([more === 0 ? 'json' : 'objectKey'])
    expect((await world.getCall(idOf(answer))).result?.content).toBe(text)
  })
})

describe('arguments', () => {
  it.each([0, 1])('at the limit of an item and %i more survive an approval', async more => {
    const text = textOf('text', MAX_INLINE_BYTES + more)
    const asked = await world.run(agent, 'long.ask', { text })
    expect(asked.status).toBe(202)
    const stored = await getCall(idOf(asked))
    expect(Object.keys(stored?.arguments ?? {})).toEqual([more === 0 ? 'json' : 'objectKey'])
    const call = await world.getCall(idOf(asked))
    expect(call.arguments).toEqual({ text })
    await world.decide(call, 'approve')
    const done = await world.untilCall(call.id, 'COMPLETED')
    expect(done.result?.content).toBe(String(text.length))
    expect(ran).toContain(text)
  })

  it('that were edited to be long run as edited, and the first ones are not lost', async () => {
    const first = textOf('text', MAX_INLINE_BYTES + 10)
    const edited = textOf('text', MAX_INLINE_BYTES + 20)
    const call = await world.getCall(idOf(await world.run(agent, 'long.ask', { text: first })))
    const decided = await world.decide(call, 'approve', { arguments: { text: edited } })
    expect(dataOf<CallView>(decided).arguments).toEqual({ text: edited })
    const done = await world.untilCall(call.id, 'COMPLETED')
    expect(done.result?.content).toBe(String(edited.length))
  })

  it('of 300 KB that a model makes survive in its history and in the approval', async () => {
    const text = 'w'.repeat(300 * 1024)
    const taskId = await world.createTask(agent, `/long ask ${JSON.stringify({ text })}`)
    const [call] = await world.untilApproval(taskId)
    expect(call.arguments).toEqual({ text })
    expect(call.description.length).toBe(MAX_DESCRIPTION_CHARS)
    await world.decide(call, 'approve')
    const task = await world.untilTask(taskId, 'COMPLETED')
    expect(task.final_response).toContain(String(text.length))
  })

  it('of all sizes stay within one item, with the result and the answer', async () => {
    const text = textOf('text', MAX_INLINE_BYTES)
    const answer = await world.run(agent, 'long.take', { text: text.slice(0, -40) })
    expect(answer.status).toBe(200)
    const call = await getCall(idOf(answer))
    const bytes = Buffer.byteLength(JSON.stringify(call))
    expect(bytes).toBeGreaterThan(2 * MAX_INLINE_BYTES - 200)
    // An answer of the children's may come to it: three such values, of 400 KB.
    expect(bytes + MAX_INLINE_BYTES).toBeLessThan(400 * 1024)
    expect(ToolCall.parse(call).id).toBe(callKey(idOf(answer)).pk)
  })
})

describe('a description', () => {
  it('is cut to a length that a person reads', () => {
    expect(clip('a'.repeat(10), 10)).toBe('a'.repeat(10))
    expect(clip('a'.repeat(11), 10)).toBe(`${'a'.repeat(9)}…`)
    expect(clip('aaaa😀😀', 6)).toBe('aaaa…')
  })

  it('that a tool fails to give does not keep the call from being asked for', async () => {
    const answer = await world.run(agent, 'long.fail_to_describe', { text: 'x' })
    expect(answer.status).toBe(202)
    expect(answer.body.data).toMatchObject({ description: 'Run long fail_to_describe' })
  })
})

describe('a prompt', () => {
  it('may have as many characters as it may have', async () => {
    const line = '/short say {"length": 3}\n'
    const id = await world.createTask(agent, line + 'ü'.repeat(MAX_PROMPT_CHARS - line.length))
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.final_response).toContain('xxx')
  })
})
