import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Id } from '../../../lib/core/ids.ts'
import type { HistoryRow } from '../../../lib/http/present-history.ts'
import type { AssistantPart, Message } from '../../../lib/llm/message.ts'
import { type Entry, readWithSummaries } from '../../../lib/task/history.ts'
import { cancelSteps } from '../../../lib/task/ledger.ts'
import { getTask } from '../../../lib/task/task.ts'
import { KEPT_ROWS, keptFrom, transcript } from '../../../lib/workflow/summarise.ts'
import { useWorld, world } from '../../use-world.ts'
import { dataOf } from '../../world.ts'
import { type Asked, call, fine, localModel, say, server, useModelServer } from './model-server.ts'

useModelServer()
useWorld()

const entryOf = (calls: number | 'user', seq: number): Entry => {
  const row = {
    taskId: 'task_00000000000000000000000000' as const,
    seq,
    createdAt: '2026-01-01T00:00:00.000Z',
    message: { json: '' },
  }
  if (calls === 'user') return { ...row, role: 'user', content: { role: 'user', text: 'Go.' } }
  const parts = Array.from({ length: calls }, (_, index): AssistantPart => {
    const toolCallId = `call_${index}`
    return { type: 'tool-call', toolCallId, toolName: 'look', input: '{}', state: 'complete' }
  })
  return { ...row, role: 'assistant', content: { role: 'assistant', parts } }
}

describe('what stays as it is', () => {
  it.each<[(number | 'user')[], number]>([
    // Four steps with a call each are eight rows: two of them fit.
    [['user', 1, 1, 1, 1], 3],
    [['user', 1, 1, 1, 1, 1, 1, 1], 6],
    // A step stays with all of its answers, or goes with them.
    [['user', 1, 1, 4], 3],
    [['user', 1, 1, 5], 4],
    // Where only the prompt would go, what is long is among the latest.
    [['user', 1], 2],
    [['user', 1, 1], 3],
    [['user', 0, 'user'], 2],
    [['user', 1, 0, 'user', 1], 2],
  ])('of %j is what stands from %i on', (rows, from) => {
    expect(keptFrom(rows.map(entryOf))).toBe(from)
  })

  it(`is never more than ${KEPT_ROWS} rows, unless the user said the last of them`, () => {
    const rows = fc.array(fc.oneof(fc.nat(6), fc.constant('user' as const)), { maxLength: 20 })
    fc.assert(
      fc.property(rows, rest => {
        const entries = (['user', ...rest] as const).map(entryOf)
        const kept = entries.slice(keptFrom(entries))
        const count = kept.reduce(
          (sum, { content }) => sum + 1 + (content.role === 'assistant' ? content.parts.length : 0),
          0,
        )
        expect(count).toBeLessThanOrEqual(KEPT_ROWS)
        if (rest.at(-1) === 'user') expect(kept.at(-1)).toBe(entries.at(-1))
      }),
    )
  })
})

describe('a transcript', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 3_000 })
  const message: fc.Arbitrary<Message> = fc.oneof(
    text.map((words): Message => ({ role: 'user', text: words })),
    text.map((words): Message => ({ role: 'assistant', parts: [{ type: 'text', text: words }] })),
    text.map(
      (words): Message => ({
        role: 'tool',
        results: [{ toolCallId: 'call_1', toolName: 'look', text: words, isError: false }],
      }),
    ),
  )

  it('is never longer than it may be, is well-formed, and holds the first and the latest words', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 12 }),
        fc.integer({ min: 1_000, max: 9_000 }),
        (messages, max) => {
          const whole = transcript(
            [{ role: 'user', text: 'FIRST' }, ...messages, { role: 'user', text: 'LAST' }],
            max,
          )
          expect(whole.length).toBeLessThanOrEqual(max)
          expect(whole.isWellFormed()).toBe(true)
          expect(whole.startsWith('User: FIRST')).toBe(true)
          expect(whole.endsWith('User: LAST')).toBe(true)
        },
      ),
    )
  })

  it('never holds the text of a broken call', () => {
    const broken = {
      type: 'tool-call',
      toolCallId: '1',
      toolName: 'look',
      input: '{"a": CANARY',
    } as const
    const parts = (['cut-off', 'malformed'] as const).map(state => ({ ...broken, state }))
    expect(transcript([{ role: 'assistant', parts }], 5_000)).not.toContain('CANARY')
  })
})

describe('a conversation that a model can’t read any more', () => {
  const overflow = { status: 400, body: { error: { message: 'context_length_exceeded' } } }
  const isSummary = ({ messages }: Asked) => JSON.stringify(messages[0]).includes('Sum it up')
  const summary = { text: 'SUMMARY: they add.', end: 'done' as const }
  const sum = (nth: number) => call('calculator', { expression: `${nth} + 1` })

  const start = async (fields: object = {}) => {
    const agent = await world.createAgent(['calculator'], {
      model: localModel(),
      max_steps: 20,
      ...fields,
    })
    return world.createTask(agent, 'PROMPT: add.')
  }
  const run = async (fields: object = {}) =>
    world.untilTask(await start(fields), 'COMPLETED', 'FAILED')
  const rowsOf = async (id: string) =>
    dataOf<HistoryRow[]>(await world.request('GET', `/api/v1/tasks/${id}/history?limit=100`))

  it('is summed up by the same model, once, and goes on by the summary and its latest rows', async () => {
    say(sum(1), sum(2), sum(3), sum(4), overflow, summary, sum(5), fine)
    const task = await run()
    expect(task).toMatchObject({ status: 'COMPLETED', usage: { steps: 7, requests: 8 } })
    const [asked, again] = [server.asked[5], server.asked[6]]
    if (!asked || !again) throw new Error('Nothing was asked.')
    expect(isSummary(asked)).toBe(true)
    expect(asked.tools).toBeUndefined()
    expect(JSON.stringify(asked.messages)).toContain('PROMPT: add.')
    // The system prompt is empty: the summary, two steps of two messages each.
    expect(again.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ])
    expect(again.messages[0]?.content).toContain('SUMMARY: they add.')
    expect(JSON.stringify(again.messages)).not.toContain('PROMPT: add.')
    expect(server.asked[7]?.messages.slice(0, 5)).toEqual(again.messages)
    // People see all of it, and no summary.
    const rows = await rowsOf(task.id)
    expect(rows.map(({ role }) => role).filter(role => role === 'assistant')).toHaveLength(6)
    expect(rows[0]?.text).toBe('PROMPT: add.')
    expect(JSON.stringify(rows)).not.toContain('SUMMARY')
  })

  it('is summed up anew at its next overflow, with the summary that there was', async () => {
    const second = { text: 'SECOND.', end: 'done' as const }
    say(sum(1), sum(2), sum(3), sum(4), overflow, summary, sum(5), sum(6), overflow, second, fine)
    const task = await run()
    expect(task.status).toBe('COMPLETED')
    expect(JSON.stringify(server.asked[9]?.messages)).toContain('SUMMARY: they add.')
    const last = JSON.stringify(server.asked[10]?.messages)
    expect(last).toContain('SECOND.')
    expect(last).not.toContain('SUMMARY: they add.')
  })

  it('fails where even that is too long, and says what helps', async () => {
    say(sum(1), sum(2), sum(3), overflow, summary, overflow, fine)
    const task = await run()
    expect(task).toMatchObject({ status: 'FAILED', error: { code: 'CONTEXT_WINDOW' } })
    expect(server.asked).toHaveLength(6)
  })

  it('fails at its first turn, when there is nothing to sum up', async () => {
    say(overflow)
    const task = await run()
    expect(task).toMatchObject({ status: 'FAILED', error: { code: 'CONTEXT_WINDOW_FIRST_TURN' } })
    expect(task.error?.message).toContain('Send less')
    expect(server.asked).toHaveLength(1)
  })

  it('is summed up from less where the request for that is too long itself', async () => {
    const long = call('calculator', { expression: `1${' + 1'.repeat(2_000)}` })
    say(long, sum(2), sum(3), sum(4), overflow, overflow, summary, fine)
    const task = await run()
    expect(task.status).toBe('COMPLETED')
    const [first, less] = [server.asked[5], server.asked[6]].map(
      asked => JSON.stringify(asked).length,
    )
    expect(less).toBeLessThan(first ?? 0)
  })

  it('pays for the summary like for a step, against its limits as well', async () => {
    say(sum(1), sum(2), sum(3), overflow, summary, fine)
    const id = await start()
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.own_usage).toMatchObject({ steps: 4, input_tokens: 5 * 20, output_tokens: 5 * 10 })
    expect(task.usage).toMatchObject({ input_tokens: 5 * 20, unconfirmed: { requests: 0 } })
    expect((await readWithSummaries(id)).summaries).toMatchObject([{ atSeq: 4, upTo: 2 }])
    // The limit is that of what the steps and the summary have used: 150 tokens by the fifth request.
    say(sum(1), sum(2), sum(3), overflow, summary, sum(4), fine)
    const limited = await run({ max_tokens: 150 })
    expect(limited.error?.code).toBe('MAX_TOKENS')
    expect(server.asked).toHaveLength(6)
  })

  it('is not summed up for a task that was cancelled meanwhile', async () => {
    const started = Promise.withResolvers<Id<'task'>>()
    say(sum(1), sum(2), sum(3), async () => {
      await cancelSteps(await getTask(await started.promise))
      return overflow
    })
    started.resolve(await start())
    expect((await world.untilTask(await started.promise, 'CANCELLED')).status).toBe('CANCELLED')
    expect(server.asked).toHaveLength(4)
  })
})
