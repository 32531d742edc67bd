import { moveCall } from '../call/tool-call.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { cancelSteps } from '../task/ledger.ts'
import { listOpen } from '../task/open-children.ts'
import { getTask, getTasks, type Task, TERMINAL } from '../task/task.ts'
import { readConversation } from './conversation.ts'
import { endTask } from './end.ts'

/**
 * Cancels a task and all below it, for good. First the ledger forbids every further step of the
 * tree, so that no model is asked after that; then each task is ended. What has ended stays as it
 * is, and doing it again finishes what was left.
 */
export const cancelTask = async (task: Task, clock: Clock = systemClock): Promise<Task> => {
  await cancelSteps(task)
  for (const child of await getTasks(await listOpen(task.id))) await cancelTask(child, clock)
  if (!TERMINAL.includes(task.status)) await endTask(task, 'CANCELLED', {}, { clock })
  await withdrawApprovals(task, clock)
  return getTask(task.id)
}

/** Nothing of a cancelled task is left for anyone to approve. */
const withdrawApprovals = async (task: Task, clock: Clock): Promise<void> => {
  const { calls } = await readConversation(task.id)
  const result = { inline: { isError: true, content: 'The task was cancelled; nothing ran.' } }
  for (const call of calls.values())
    if (call.status === 'PENDING_APPROVAL')
      await moveCall(call, ['PENDING_APPROVAL'], 'EXPIRED', {
        set: { endedAt: isoNow(clock), result },
      })
}
