import { type Clock, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { cancelSteps, ledgerKey } from '../task/ledger.ts'
import { listParts, noteProgress, Part, partKey, type TaskRemains } from '../task/remains.ts'
import { clearTask } from './clear-task.ts'
import { GO_ON_MS } from './delete-task.ts'
import { gatherChildren } from './gather-children.ts'
import { inGroups } from './in-groups.ts'

/** Says when the time for a piece of work is over: what was not done by then is done another time. */
export type IsOver = () => boolean

/** Tasks of one tree that are looked at, or cleared, at once. */
export const TASKS_AT_ONCE = 4
/** Places in the list of a tree's tasks that are written at once. */
const PARTS_AT_ONCE = 16

/**
 * After a deletion all that ran as it began is over by then: ticks and operations take 15 minutes at
 * the longest.
 */
export const LATE_MS = 20 * 60_000

/**
 * Takes away what is left of a deleted task's tree, as far as there is time; true once nothing is.
 * First all of its tasks are found and ended; only then anything of them goes, since the way to a
 * task leads through what is above it. May be done again, and by several at once, and goes on where
 * it was left.
 */
export const clearTree = async (
  remains: TaskRemains,
  { isOver = () => false, clock = systemClock }: { isOver?: IsOver; clock?: Clock } = {},
): Promise<boolean> => {
  const { id } = remains
  if (remains.gatheredAt === undefined) {
    if (!(await gather(remains, isOver, clock))) return false
    await noteProgress(id, 'gatheredAt', { inMs: GO_ON_MS, clock })
  }
  const left = (await listParts(id)).filter(({ state }) => state !== 'cleared')
  const clear = async (part: Part) => {
    if (await clearTask(id, part.taskId, isOver)) await advance(id, part, 'cleared')
  }
  if (!(await inGroups(left, TASKS_AT_ONCE, clear, isOver))) return false
  if ((await listParts(id)).some(({ state }) => state !== 'cleared')) return false
  await table.remove(ledgerKey(id))
  await noteProgress(id, 'clearedAt', { inMs: LATE_MS, clock })
  return true
}

/** Finds every task of the tree, and ends those that have not ended. */
const gather = async (remains: TaskRemains, isOver: IsOver, clock: Clock): Promise<boolean> => {
  const { id, by } = remains
  // The root is in everyone's lineage: from here on no task of the tree asks a model.
  await cancelSteps({ id, rootId: id })
  const find = (taskId: Id<'task'>) =>
    table.insert(Part, { taskId, state: 'found' }, { key: partKey(id, taskId) })
  for (;;) {
    const parts = (await listParts(id)).filter(({ state }) => state === 'found')
    if (parts.length === 0) return true
    const look = async (part: Part) => {
      const children = await gatherChildren(part.taskId, { by, clock })
      if (await inGroups(children, PARTS_AT_ONCE, find, isOver)) await advance(id, part, 'gathered')
    }
    if (!(await inGroups(parts, TASKS_AT_ONCE, look, isOver))) return false
  }
}

/** Never back: someone slower may still be where others have long been. */
const advance = (rootId: Id<'task'>, { taskId }: Part, state: 'gathered' | 'cleared') =>
  table.update(
    Part,
    partKey(rootId, taskId),
    { set: { state } },
    { where: { state: state === 'gathered' ? 'found' : 'gathered' } },
  )

/** Over after so many milliseconds from now. */
export const within = (milliseconds: number): IsOver => {
  const end = performance.now() + milliseconds
  return () => performance.now() >= end
}
