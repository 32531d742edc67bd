import { closeQuestion, isAsking } from '../call/question.ts'
import { type CallStatus, moveCall, type ToolCall } from '../call/tool-call.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { small } from '../data/large.ts'
import * as table from '../data/table.ts'
import { Task, taskKey } from '../task/task.ts'
import { readConversation } from './conversation.ts'

const NOTHING_RAN = { isError: true, content: 'The task has ended; nothing ran.' }

/** Nothing of an ended task is left for anyone to approve, and nothing of it starts any more. */
export const withdrawCalls = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  const { calls } = await readConversation(task.id)
  if (await livesAgain(task)) return
  for (const call of calls.values()) await withdraw(call, clock)
}

/**
 * Whether an ended task has been continued since. Whoever clears up after its end asks this once
 * it knows what there is: nothing of that belongs to the new life, then.
 */
export const livesAgain = async ({ id, generation }: Task): Promise<boolean> => {
  const current = await table.get(Task, taskKey(id))
  return current !== undefined && current.generation !== generation
}

const withdraw = async (call: ToolCall, clock: Clock): Promise<void> => {
  if (isAsking(call)) await closeQuestion(call, 'The task has ended; nobody was asked any more.')
  const to = END_OF[call.status]
  if (to === undefined) return
  const set = { endedAt: isoNow(clock), result: small(NOTHING_RAN) }
  const { ok, item } = await moveCall(call, [call.status], to, { set })
  // Its function put it up for approval, or a person approved it, in this moment.
  if (!ok && item) await withdraw(item, clock)
}

const END_OF: { [status in CallStatus]?: CallStatus } = {
  PENDING_APPROVAL: 'EXPIRED',
  REQUESTED: 'FAILED',
  APPROVED: 'FAILED',
}
