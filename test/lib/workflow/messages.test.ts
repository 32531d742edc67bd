import { describe, expect, it } from 'vitest'
import { callIdAt, type ToolCall } from '../../../lib/call/tool-call.ts'
import { newId } from '../../../lib/core/ids.ts'
import { small } from '../../../lib/data/large.ts'
import type { Message } from '../../../lib/llm/message.ts'
import type { Entry } from '../../../lib/task/history.ts'
import { messagesOf } from '../../../lib/workflow/messages.ts'

const taskId = newId('task')
const callId = callIdAt(taskId, 1, 0)

const entry = (seq: number, content: Entry['content']): Entry => ({
  taskId,
  seq,
  role: content.role,
  message: small(null),
  createdAt: '2026-01-01T12:00:00.000Z',
  content,
})
const call = { type: 'tool-call', toolCallId: 'a', toolName: 'pay', input: '{}' } as const

/** A task that was stopped in its first step, and is told something before it goes on. */
const told = async (record?: Partial<ToolCall>): Promise<string> => {
  const messages: Message[] = await messagesOf({
    entries: [
      entry(0, { role: 'user', text: 'Pay.' }),
      entry(1, { role: 'assistant', parts: [{ ...call, state: 'complete' }] }),
      entry(2, { role: 'user', text: 'Go on.' }),
    ],
    calls: new Map(record ? [[callId, { id: callId, ...record } as ToolCall]] : []),
    summaries: [],
  })
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
  const answer = messages[2]?.role === 'tool' ? messages[2].results[0] : undefined
  expect(answer?.isError).toBe(true)
  return answer?.text ?? ''
}

describe('of a call that the task was stopped in', () => {
  it('the model reads that it did not run, where it never came to that', async () => {
    expect(await told()).toContain('did not run')
  })

  it.each(['STARTED', 'UNKNOWN'] as const)(
    'that is %s the model reads that it may have had its effect',
    async status => expect(await told({ status })).toContain('may have had its effect'),
  )

  it('that waited for others the model reads that they were cancelled', async () => {
    const result = small({ isError: false, content: 'Started.', children: [newId('task')] })
    expect(await told({ status: 'COMPLETED', result })).toContain('cancelled')
  })
})
