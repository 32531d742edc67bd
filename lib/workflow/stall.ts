import { ENDED } from '../call/tool-call.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { Task } from '../task/task.ts'
import { cancelBelow } from './cancel.ts'
import { readConversation } from './conversation.ts'
import { startGeneration } from './execution.ts'
import { takeLease } from './lease.ts'
import { fail } from './outcome.ts'
import { withdrawCalls } from './withdraw.ts'

/**
 * Executions of one task that may end in failure without a step or a call's end in between. Each
 * has tried for minutes by then, so that an outage is over and a defect of the task itself is not.
 */
export const MAX_STALLS = 5

/** Starts a task again whose execution failed, or ends it where that has helped too often. */
export const goOnAfterFailure = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  const stalledAt = await progressOf(task)
  const stalls = task.stalledAt === stalledAt ? (task.stalls ?? 0) + 1 : 1
  if (stalls < MAX_STALLS) {
    await startGeneration(task, clock, { set: { stalls, stalledAt } })
    return
  }
  const lease = await takeLease(task.id, task.generation, clock)
  if (!('task' in lease)) return
  await cancelBelow(lease.task, clock)
  await fail(
    lease.task,
    'STALLED',
    `The task failed to go on ${MAX_STALLS} times in a row; the log says why.`,
    clock,
  )
  await withdrawCalls(lease.task, clock)
}

/** A number that grows with all that a task gets done: its history, and its calls that have ended. */
const progressOf = async ({ id }: Task): Promise<number> => {
  const { entries, calls } = await readConversation(id)
  const ended = [...calls.values()].filter(({ status }) => ENDED.includes(status))
  return entries.length + ended.length
}
