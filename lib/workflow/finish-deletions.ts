import { type Clock, systemClock } from '../core/clock.ts'
import { errorFields, log } from '../core/log.ts'
import * as table from '../data/table.ts'
import {
  closeDeletion,
  listDeletions,
  listParts,
  type Part,
  partKey,
  postponeDeletion,
  type TaskRemains,
} from '../task/remains.ts'
import { clearTask } from './clear-task.ts'
import { clearTree, type IsOver, TASKS_AT_ONCE, within } from './clear-tree.ts'
import { inGroups } from './in-groups.ts'

/** Deletions that one sweep goes on with at most, and how long it takes for all of them. */
const SWEEP_LIMIT = 50
const SWEEP_MS = 2 * 60_000
/** When a deletion is gone on with again that did not come to its end: not while it may go on. */
const AGAIN_MS = 3 * 60_000

/**
 * Goes on with the deletions that were left unfinished, and looks once more at those whose functions
 * are over by now: what a late one has left goes, and with it the list of the tree's tasks.
 */
export const finishDeletions = async (clock: Clock = systemClock): Promise<void> => {
  const isOver = within(SWEEP_MS)
  for (const id of await listDeletions(SWEEP_LIMIT, clock)) {
    if (isOver()) return
    try {
      // First: one that can't be helped must not keep the others waiting.
      const remains = await postponeDeletion(id, AGAIN_MS, clock)
      if (!remains) continue
      if (remains.clearedAt === undefined) await clearTree(remains, { isOver, clock })
      else if (await clearLate(remains, isOver)) await closeDeletion(id)
    } catch (error) {
      log('error', 'deletion-failed', { id, ...errorFields(error) })
    }
  }
}

const clearLate = async ({ id }: TaskRemains, isOver: IsOver): Promise<boolean> => {
  const parts = await listParts(id)
  const clear = async ({ taskId }: Part) => {
    if (await clearTask(id, taskId, isOver)) await table.remove(partKey(id, taskId))
  }
  return (await inGroups(parts, TASKS_AT_ONCE, clear, isOver)) && (await listParts(id)).length === 0
}
