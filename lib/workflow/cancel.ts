import { type Clock, systemClock } from '../core/clock.ts'
import { cancelSteps } from '../task/ledger.ts'
import { listOpen } from '../task/open-children.ts'
import { getTask, getTasks, type Task, TERMINAL } from '../task/task.ts'
import { endTask } from './end.ts'
import { sendToken } from './wake.ts'
import { withdrawCalls } from './withdraw.ts'

/**
 * Cancels a task and all below it, for good. First the ledger forbids every further step of the
 * tree, so that no model is asked after that; then each task is ended. What has ended stays as it
 * is, and doing it again finishes what was left.
 */
export const cancelTask = async (task: Task, clock: Clock = systemClock): Promise<Task> => {
  await cancelBelow(task, clock)
  if (!TERMINAL.includes(task.status)) await endTask(task, 'CANCELLED', {}, { clock })
  await withdrawCalls(task, clock)
  const ended = await getTask(task.id)
  // Its execution would wait on for a day, for nothing.
  if (ended.token !== undefined) await sendToken(ended.token)
  return ended
}

/** Forbids every further step from this task down, and ends all that is below it. */
export const cancelBelow = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  await cancelSteps(task)
  for (const child of await getTasks(await listOpen(task.id))) await cancelTask(child, clock)
}
