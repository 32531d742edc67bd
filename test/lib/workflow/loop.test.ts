import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CallResult, callIdAt } from '../../../lib/call/tool-call.ts'
import { newId } from '../../../lib/core/ids.ts'
import type { AssistantPart } from '../../../lib/llm/message.ts'
import type { Entry } from '../../../lib/task/history.ts'
import type { Conversation } from '../../../lib/workflow/conversation.ts'
import { loopIn, NOTICED_ROUNDS, noteOf, STOPPED_ROUNDS } from '../../../lib/workflow/loop.ts'
import { messagesOf } from '../../../lib/workflow/messages.ts'
import { useWorld, world } from '../../use-world.ts'
import { call, fine, localModel, say, server, useModelServer } from './model-server.ts'

useModelServer()
useWorld()

type Made = { tool: string; values: Record<string, unknown>; answer: string }
/** What a history is made of: what a user says, or a step with its calls. */
type Said = string | Made[]

const conversationOf = (said: Said[]): Conversation => {
  const taskId = newId('task')
  const calls: Conversation['calls'] = new Map()
  const entries = said.map((what, seq): Entry => {
    const row = { taskId, seq, createdAt: '2026-01-01T00:00:00.000Z', message: { json: '' } }
    if (typeof what === 'string')
      return { ...row, role: 'user', content: { role: 'user', text: what } }
    const parts = what.map(({ tool, values, answer }, index): AssistantPart => {
      const result: CallResult = { isError: false, content: answer }
      const id = callIdAt(taskId, seq, index)
      calls.set(id, { id, status: 'COMPLETED', answer: { json: JSON.stringify(result) } } as never)
      const input = JSON.stringify(values)
      return { type: 'tool-call', toolCallId: id, toolName: tool, input, state: 'complete' }
    })
    return { ...row, role: 'assistant', content: { role: 'assistant', parts } }
  })
  return { entries, calls, summaries: [] }
}

const step = (answer: string, values: Record<string, unknown> = { a: 1, b: 2 }): Made[] => [
  { tool: 'look', values, answer },
  { tool: 'wait', values: {}, answer: 'waited' },
]
const times = <T>(count: number, item: T): T[] => Array(count).fill(item)
const notesIn = async (said: Said[]) =>
  (await messagesOf(conversationOf(said))).flatMap(message =>
    message.role === 'tool' ? message.results.map(({ text }) => text.split('\n\n')[1]) : [],
  )

describe('a loop', () => {
  it.each([
    [STOPPED_ROUNDS - 1, false],
    [STOPPED_ROUNDS, true],
    [STOPPED_ROUNDS + 1, true],
  ])('of %i like steps is one: %s', async (count, isLoop) => {
    const loop = await loopIn(conversationOf(['Go.', ...times(count, step('same'))]), 0)
    expect(loop !== undefined).toBe(isLoop)
    if (loop) expect(loop).toContain('look {"a":1,"b":2}, wait {}')
  })

  it('is one in whatever order the calls and their arguments stand', async () => {
    const turned = step('same', { b: 2, a: 1 }).toReversed()
    const said = ['Go.', step('same'), turned, step('same'), turned, step('same')]
    expect(await loopIn(conversationOf(said), 0)).toBeDefined()
  })

  it('is none where an answer, an argument or the number of calls changes, or someone speaks', async () => {
    const others: Said[] = [
      step('another'),
      step('same', { a: 1, b: 3 }),
      step('same').slice(1),
      [...step('same'), ...step('same')],
      'Once more.',
    ]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...others),
        fc.nat(STOPPED_ROUNDS - 2),
        async (other, at) => {
          const said: Said[] = times(STOPPED_ROUNDS, step('same'))
          const broken =
            typeof other === 'string' ? said.toSpliced(at + 1, 0, other) : said.with(at, other)
          expect(await loopIn(conversationOf(['Go.', ...broken]), 0)).toBeUndefined()
        },
      ),
    )
  })

  it('begins anew with each life of a task', async () => {
    const conversation = conversationOf(['Go.', ...times(STOPPED_ROUNDS + 2, step('same'))])
    expect(await loopIn(conversation, 2)).toBeDefined()
    expect(await loopIn(conversation, 3)).toBeUndefined()
  })

  it('is told to the model beside its last answer, from the third round on, alike each time', async () => {
    const said: Said[] = ['Go.', ...times(STOPPED_ROUNDS - 1, step('same'))]
    const notes = await notesIn(said)
    expect(notes).toEqual([
      ...times(2 * NOTICED_ROUNDS - 1, undefined),
      noteOf(NOTICED_ROUNDS),
      undefined,
      noteOf(NOTICED_ROUNDS + 1),
    ])
    // What was told before stays word for word, whatever comes after.
    expect((await notesIn([...said, step('another')])).slice(0, notes.length)).toEqual(notes)
    expect(noteOf(NOTICED_ROUNDS - 1)).toBeUndefined()
  })
})

describe('a task that goes in circles', () => {
  const run = async (tools: string[]): Promise<Awaited<ReturnType<typeof world.untilTask>>> => {
    const agent = await world.createAgent(tools, { model: localModel(), max_steps: 20 })
    const id = await world.createTask(agent, 'Go.')
    return world.untilTask(id, 'COMPLETED', 'FAILED')
  }
  const noted = () =>
    server.asked.map(({ messages }) => JSON.stringify(messages).includes('The platform notes'))

  it('is told so, and fails with what it repeats; people see no note', async () => {
    say(call('calculator', { expression: '1 + 1' }))
    const task = await run(['calculator'])
    expect(task.error?.code).toBe('DOOM_LOOP')
    expect(task.error?.message).toContain('calculator {"expression":"1 + 1"}')
    expect(noted()).toEqual([false, false, false, true, true])
    for (const { result } of task.tool_calls) expect(result?.content).toBe('2')
    const { text } = await world.request('GET', `/api/v1/tasks/${task.id}/history`)
    expect(text).not.toContain('The platform notes')
  })

  it('and heeds the note goes on', async () => {
    const again = call('calculator', { expression: '1 + 1' })
    say(again, again, again, asked =>
      JSON.stringify(asked.messages).includes('The platform notes') ? fine : again,
    )
    expect((await run(['calculator'])).status).toBe('COMPLETED')
    expect(server.asked).toHaveLength(4)
  })

  it('is stopped as well where its calls never run', async () => {
    say(call('nothing_like_this', {}))
    const task = await run(['calculator'])
    expect(task.error?.code).toBe('DOOM_LOOP')
    expect(server.asked).toHaveLength(STOPPED_ROUNDS)
  })

  it('can be gone on with', async () => {
    say(call('calculator', { expression: '1 + 1' }))
    const { id } = await run(['calculator'])
    say(call('calculator', { expression: '1 + 1' }), fine)
    await world.request('POST', `/api/v1/tasks/${id}/continue`, { body: {} })
    expect((await world.untilTask(id, 'COMPLETED')).status).toBe('COMPLETED')
  })
})
