import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { DUE_ATTRIBUTES, dueIndex } from '../data/due.ts'
import type { Where } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { allEnded, childMarker } from '../task/open-children.ts'
import { moveOf, Task, taskKey } from '../task/task.ts'
import { wake } from './wake.ts'

/** When the sweeper looks whether an ended child's parent was told. */
const REPORT_GRACE_MS = 60_000

/**
 * Ends a task, on a condition, and tells its parent. The child's marker goes in the same
 * transaction; whoever then finds no marker left wakes the parent. False where the condition fails.
 */
export const endTask = async (
  task: Task,
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED',
  set: Partial<Pick<Task, 'finalResponse' | 'error' | 'handoverTo'>>,
  { where = {}, clock = systemClock }: { where?: Where; clock?: Clock } = {},
): Promise<boolean> => {
  const now = isoNow(clock)
  const { change, where: legal } = moveOf(
    status,
    {
      set: {
        ...set,
        endedAt: now,
        // A child stays in the sweeper's list until its parent was told.
        ...(task.parentId ? dueIndex(task.id, isoIn(REPORT_GRACE_MS, clock)) : {}),
      },
      remove: ['leaseUntil', ...(task.parentId ? [] : DUE_ATTRIBUTES)],
    },
    clock,
  )
  const update = { update: change, key: taskKey(task.id), where: { ...legal, ...where } }
  const writes: TransactionWrite[] = task.parentId
    ? [update, { remove: childMarker(task.parentId, task.id) }]
    : [update]
  if (!(await transact(writes)).ok) return false
  if (task.parentId) await reportToParent(task, clock)
  return true
}

/**
 * Wakes the parent of an ended task if it was the last one open, and takes the task off the
 * sweeper's list; may be done again.
 */
export const reportToParent = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  if (task.parentId && (await allEnded(task.parentId))) await wake(task.parentId, clock)
  await table.update(Task, taskKey(task.id), { remove: DUE_ATTRIBUTES })
}
