import { moveCall } from '../call/tool-call.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { small } from '../data/large.ts'
import type { Task } from '../task/task.ts'
import { readConversation } from './conversation.ts'

const NOTHING_RAN = { isError: true, content: 'The task has ended; nothing ran.' }

/** Nothing of an ended task is left for anyone to approve, and nothing of it starts any more. */
export const withdrawCalls = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  const { calls } = await readConversation(task.id)
  const set = { endedAt: isoNow(clock), result: small(NOTHING_RAN) }
  for (const call of calls.values()) {
    if (call.status === 'PENDING_APPROVAL')
      await moveCall(call, ['PENDING_APPROVAL'], 'EXPIRED', { set })
    if (call.status === 'REQUESTED' || call.status === 'APPROVED')
      await moveCall(call, [call.status], 'FAILED', { set })
  }
}
