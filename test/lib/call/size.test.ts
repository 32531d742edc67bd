import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { MAX_ARGUMENT_BYTES } from '../../../lib/call/arguments.ts'
import { MAX_DESCRIPTION_CHARS } from '../../../lib/call/description.ts'
import { MAX_DATA_BYTES } from '../../../lib/call/shorten.ts'
import { callKey, getCall, ToolCall } from '../../../lib/call/tool-call.ts'
import { clip } from '../../../lib/core/clip.ts'
import type { Id } from '../../../lib/core/ids.ts'
import { encodePlace } from '../../../lib/data/cursor.ts'
import { MAX_INLINE_BYTES } from '../../../lib/data/large.ts'
import { getObject } from '../../../lib/data/objects.ts'
import { MAX_ANSWER_BYTES } from '../../../lib/http/room.ts'
import { MAX_PROMPT_CHARS } from '../../../lib/task/create.ts'
import { append, readHistory } from '../../../lib/task/history.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { result } from '../../../lib/tool/result.ts'
import { operationSchema } from '../../../lib/tool/schema.ts'
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
    fail: {
      ...operation,
      description: 'Fail at length.',
      parameters: z.object({ length: z.int() }),
      describe: ({ length }) => `Fail with ${length}`,
      execute: async ({ parameters: { length } }) => {
        throw new Error('f'.repeat(length))
      },
    },
    show: {
      ...operation,
      description: 'Show people something.',
      parameters: z.object({ length: z.int() }),
      describe: ({ length }) => `Show ${length}`,
      execute: async ({ parameters: { length } }) =>
        result({ content: 'shown', data: 'd'.repeat(length) }),
    },
    give: {
      ...operation,
      description: 'Give data.',
      parameters: z.object({ data: z.string() }),
      describe: () => 'Give data',
      execute: async ({ parameters }) =>
        result({ content: 'given', data: JSON.parse(parameters.data) }),
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
    expect(call?.result).toHaveProperty(more === 0 ? 'json' : 'objectKey')
    expect((await world.getCall(idOf(answer))).result?.content).toBe(text)
  })
})

describe('arguments', () => {
  it.each([0, 1])('at the limit of an item and %i more survive an approval', async more => {
    const text = textOf('text', MAX_INLINE_BYTES + more)
    const asked = await world.run(agent, 'long.ask', { text })
    expect(asked.status).toBe(202)
    const stored = await getCall(idOf(asked))
    expect(stored?.arguments).toHaveProperty(more === 0 ? 'json' : 'objectKey')
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

describe('what a refused request carried', () => {
  const big = (letter: string) => letter.repeat(MAX_INLINE_BYTES + 50)

  it('changes nothing of the call whose Idempotency-Key it used', async () => {
    const headers = { 'idempotency-key': 'the same for both' }
    const asked = await world.run(agent, 'long.ask', { text: big('g') }, { headers })
    const refused = await world.run(agent, 'long.ask', { text: big('e') }, { headers })
    expect([asked.status, refused.status]).toEqual([202, 422])
    const call = await world.getCall(idOf(asked))
    expect(call.arguments).toEqual({ text: big('g') })
    await world.decide(call, 'approve')
    await world.untilCall(call.id, 'COMPLETED')
    expect(ran).toContain(big('g'))
    expect(ran).not.toContain(big('e'))
  })

  it('changes nothing of the task, nor of a step that is there', async () => {
    const headers = { 'idempotency-key': 'one task' }
    const body = (prompt: string) => ({ body: { agent_id: agent, prompt }, headers })
    const made = await world.request('POST', '/api/v1/tasks', body(big('a')))
    const refused = await world.request('POST', '/api/v1/tasks', body(big('b')))
    expect([made.status, refused.status]).toEqual([201, 422])
    const { id } = made.body.data as { id: Id<'task'> }
    const row = { taskId: id, seq: 0, createdAt: new Date().toISOString() }
    expect(await append(row, { role: 'user', text: big('c') })).toBe(false)
    const [first] = await readHistory(id)
    expect(first?.content).toEqual({ role: 'user', text: big('a') })
  })
})

describe('arguments and errors without measure', () => {
  it.each([0, 1])('at the limit of all arguments and %i more are taken or refused', async more => {
    const answer = await world.run(agent, 'long.ask', {
      text: textOf('text', MAX_ARGUMENT_BYTES + more),
    })
    expect(answer.status).toBe(more === 0 ? 202 : 422)
    if (more === 0) await world.decide(await world.getCall(idOf(answer)), 'reject')
    else expect(answer.body.error?.message).toContain(`at most ${MAX_ARGUMENT_BYTES} fit`)
  })

  it('of a tool that fails are cut like a result, and kept whole', async () => {
    const answer = await world.run(agent, 'short.fail', { length: 3_000_000 })
    const { content } = answer.body.data as { content: string }
    expect(content.length).toBeLessThanOrEqual(MAX_CHARS)
    const whole = await getObject(JSON.parse(content).full_output)
    expect(whole?.byteLength).toBe(3_000_000)
  })

  it('of what only people see are cut, too', async () => {
    const whole = await world.run(agent, 'short.show', { length: MAX_DATA_BYTES - 2 })
    expect((whole.body.data as { data: string }).data).toHaveLength(MAX_DATA_BYTES - 2)
    const cut = await world.run(agent, 'short.show', { length: MAX_DATA_BYTES - 1 })
    expect((cut.body.data as { data: unknown }).data).toMatchObject({
      truncated: true,
      original_size_bytes: MAX_DATA_BYTES + 1,
    })
  })

  it('are receipts all the same: a number and a depth that no row could hold', async () => {
    const data = {
      number: 1e300,
      deep: Array.from({ length: 60 }).reduce<unknown>(inner => [inner], 1),
    }
    const answer = await world.run(agent, 'short.give', { data: JSON.stringify(data) })
    expect(answer.body.data).toMatchObject({ status: 'COMPLETED', data })
  })
})

describe('a list of long calls', () => {
  it('is answered whole while there is room, then briefly, and can be decided', async () => {
    // Each call is shown with the schema of its parameters.
    const schema = JSON.stringify(operationSchema(long.operations.ask))
    const text = textOf('text', Math.floor(MAX_ANSWER_BYTES / 2) - schema.length)
    const asked = await Promise.all(
      [1, 2, 3].map(() => world.run(agent, 'long.ask', { text: text })),
    )
    expect(asked.map(({ status }) => status)).toEqual([202, 202, 202])
    const list = await world.request('GET', '/api/v1/approvals')
    const calls = (list.body.data as CallView[]).filter(({ id }) =>
      asked.map(idOf).includes(id as Id<'call'>),
    )
    expect(calls.map(({ truncated }) => truncated)).toEqual([false, false, true])
    const brief = calls[2]
    expect(brief).toMatchObject({
      arguments: null,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    if (brief) expect((await world.getCall(brief.id)).arguments).toEqual({ text })
    for (const call of calls) await world.decide(call, 'reject')
  })
})

describe('a task with much to tell', () => {
  it('shows what there is room for, and pages its history', async () => {
    const first = `/long take ${JSON.stringify({ text: 'w'.repeat(150_000) })}`
    const more = (step: number) => `/long take {"text": "{{1}}{{1}}${step}"}`
    const steps = [first, ...Array.from({ length: 8 }, (_, step) => more(step))]
    const id = await world.createTask(agent, steps.join('\n\n'))
    const done = await world.untilTask(id, 'COMPLETED')
    const shown = done.tool_calls.map(({ truncated }) => truncated)
    expect(shown).toHaveLength(9)
    expect(shown.at(-1)).toBe(false)
    expect(shown).toContain(true)

    const rows: { role: string }[] = []
    let cursor: string | null = encodePlace(0, `history:${id}`)
    let pages = 0
    while (cursor !== null) {
      const page = await world.request('GET', `/api/v1/tasks/${id}/history?cursor=${cursor}`)
      expect(page.status).toBe(200)
      const body = page.body as { data: { role: string }[]; next_cursor: string | null }
      rows.push(...body.data)
      cursor = body.next_cursor
      pages += 1
    }
    expect(pages).toBeGreaterThan(1)
    expect(rows.filter(({ role }) => role === 'tool')).toHaveLength(9)
    expect(rows.at(-1)).toMatchObject({ role: 'assistant', finish_reason: 'stop' })
  })

  it('refuses a cursor of another list', async () => {
    const id = await world.createTask(agent, 'Hello.')
    const foreign = Buffer.from(JSON.stringify(['history:other', 1])).toString('base64url')
    const answer = await world.request('GET', `/api/v1/tasks/${id}/history?cursor=${foreign}`)
    expect(answer.status).toBe(400)
  })
})
