import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { DUE_ATTRIBUTES, dueIndex } from '../data/due.ts'
import { is, type Where } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { announce } from '../notification/announce.ts'
import { outboxWrites } from '../notification/outbox.ts'
import { moveTask } from '../task/move.ts'
import { isDetached, markersOf, noneLeft } from '../task/open-children.ts'
import { Task, taskKey } from '../task/task.ts'
import { tellEnd } from './tell-step.ts'
import { wakeWaiters } from './waits-for.ts'
import { wake } from './wake.ts'

/** When the sweeper looks whether an ended child's parent was told. */
const REPORT_GRACE_MS = 60_000
/** By how much the clocks of two functions may differ. */
const CLOCKS_DIFFER_MS = 60_000

/** The ways in which a task ends, and what its event says of each. */
const EVENT_OF = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  ABORTED: 'aborted',
} as const

export type End = {
  status: keyof typeof EVENT_OF
  set?: Partial<Pick<Task, 'finalResponse' | 'error' | 'handoverTo' | 'handoverAgent'>>
  /** Whose doing it was, where it was somebody's. */
  by?: string
}

/**
 * Ends a task, on a condition, and tells its parent. The child's markers go in the same
 * transaction; whoever then finds none left of its call wakes the parent. False where the condition fails,
 * or where the task has moved since it was read.
 */
export const endTask = async (
  task: Task,
  { status, set = {}, by }: End,
  { where = {}, clock = systemClock }: { where?: Where; clock?: Clock } = {},
): Promise<boolean> => {
  const type = set.handoverTo ? 'handed-over' : EVENT_OF[status]
  const detail = set.error?.message
  const endedAt = isoNow(clock)
  const notices = await outboxWrites(
    { type: 'task.ended', task: { ...task, ...set, status } },
    clock,
  )
  const moved = await moveTask(
    task,
    status,
    {
      set: {
        ...set,
        endedAt,
        // A child stays in the sweeper's list until its parent was told.
        ...(task.parentId ? dueIndex(task.id, isoIn(REPORT_GRACE_MS, clock)) : {}),
      },
      remove: ['leaseUntil', ...(task.parentId ? [] : DUE_ATTRIBUTES)],
      event: { type, ...(by ? { by } : {}), ...(detail ? { detail } : {}) },
      where,
      also: [...markersOf(task).map(({ key }) => ({ remove: key })), ...notices],
    },
    clock,
  )
  if (moved) {
    await announce(notices)
    await tellEnd({ ...task, ...set, status, endedAt })
  }
  if (moved && task.parentId) await reportToParent({ ...task, ...set }, clock)
  return moved
}

/**
 * Tells whom the end of a task concerns, and takes the task off the sweeper's list; may be done
 * again.
 */
export const reportToParent = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  if (task.parentId && (await concernsParent(task, clock))) await wake(task.parentId, clock)
  const told = { remove: DUE_ATTRIBUTES }
  const { ok } = await table.update(Task, taskKey(task.id), told, {
    where: { isWaitedFor: is.absent },
  })
  if (ok) return
  await wakeWaiters(task.id, clock)
  await table.update(Task, taskKey(task.id), told)
}

/**
 * Whether the parent has to look: of children that a call waits for, after the last one, and after
 * each once the call may have been answered without them; of others, where it hears of their ends.
 */
const concernsParent = async (task: Task, clock: Clock): Promise<boolean> => {
  const { parentId, spawn, handoverTo } = task
  if (!parentId || !spawn || isDetached(task)) return false
  const { awaited, awaitedUntil, callId } = spawn
  if (!awaited) return handoverTo === undefined
  const late = awaitedUntil !== undefined && awaitedUntil <= isoIn(CLOCKS_DIFFER_MS, clock)
  return late ? handoverTo === undefined : noneLeft(parentId, callId)
}
