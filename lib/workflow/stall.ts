import { type Clock, systemClock } from '../core/clock.ts'
import { countHistory } from '../task/history.ts'
import type { Task } from '../task/task.ts'
import { cancelBelow } from './cancel.ts'
import { startGeneration } from './execution.ts'
import { takeLease } from './lease.ts'
import { fail } from './outcome.ts'
import { withdrawCalls } from './withdraw.ts'

/**
 * Executions of one task that may end in failure without a step in between. Each has tried for
 * minutes by then, so that an outage is over and a defect of the task itself is not.
 */
export const MAX_STALLS = 5

/** Starts a task again whose execution failed, or ends it where that has helped too often. */
export const goOnAfterFailure = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  const stalledAt = await countHistory(task.id)
  const stalls = task.stalledAt === stalledAt ? (task.stalls ?? 0) + 1 : 1
  if (stalls < MAX_STALLS) {
    await startGeneration(task, clock, { stalls, stalledAt })
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
