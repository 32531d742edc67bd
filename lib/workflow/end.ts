import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { DUE_ATTRIBUTES, dueIndex } from '../data/due.ts'
import type { Where } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { moveTask } from '../task/move.ts'
import { allEnded, childMarker } from '../task/open-children.ts'
import { Task, taskKey } from '../task/task.ts'
import { wake } from './wake.ts'

/** When the sweeper looks whether an ended child's parent was told. */
const REPORT_GRACE_MS = 60_000

/** The ways in which a task ends, and what its event says of each. */
const EVENT_OF = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  ABORTED: 'aborted',
} as const

export type End = {
  status: keyof typeof EVENT_OF
  set?: Partial<Pick<Task, 'finalResponse' | 'error' | 'handoverTo'>>
  /** Whose doing it was, where it was somebody's. */
  by?: string
}

/**
 * Ends a task, on a condition, and tells its parent. The child's marker goes in the same
 * transaction; whoever then finds no marker left wakes the parent. False where the condition fails,
 * or where the task has moved since it was read.
 */
export const endTask = async (
  task: Task,
  { status, set = {}, by }: End,
  { where = {}, clock = systemClock }: { where?: Where; clock?: Clock } = {},
): Promise<boolean> => {
  const type = set.handoverTo ? 'handed-over' : EVENT_OF[status]
  const detail = set.error?.message
  const moved = await moveTask(
    task,
    status,
    {
      set: {
        ...set,
        endedAt: isoNow(clock),
        // A child stays in the sweeper's list until its parent was told.
        ...(task.parentId ? dueIndex(task.id, isoIn(REPORT_GRACE_MS, clock)) : {}),
      },
      remove: ['leaseUntil', ...(task.parentId ? [] : DUE_ATTRIBUTES)],
      event: { type, ...(by ? { by } : {}), ...(detail ? { detail } : {}) },
      where,
      also: task.parentId ? [{ remove: childMarker(task.parentId, task.id) }] : [],
    },
    clock,
  )
  if (moved && task.parentId) await reportToParent(task, clock)
  return moved
}

/**
 * Wakes the parent of an ended task if it was the last one open, and takes the task off the
 * sweeper's list; may be done again.
 */
export const reportToParent = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  if (task.parentId && (await allEnded(task.parentId))) await wake(task.parentId, clock)
  await table.update(Task, taskKey(task.id), { remove: DUE_ATTRIBUTES })
}
