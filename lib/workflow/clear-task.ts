import * as z from 'zod'
import { callKey } from '../call/tool-call.ts'
import type { Id } from '../core/ids.ts'
import { removeObjects } from '../data/remove-objects.ts'
import * as table from '../data/table.ts'
import { isOfRemains, Part, partKey } from '../task/remains.ts'
import { getTasks, taskKey } from '../task/task.ts'
import { callsOf } from './calls-of.ts'
import { readCalls } from './conversation.ts'
import { inGroups } from './in-groups.ts'
import { placeIn } from './slot-queue.ts'

/** Calls, or rows, that are removed at once. */
const AT_ONCE = 8

const Row = z.object({ pk: z.string(), sk: z.string() })

/**
 * Removes all there is of one task of a deleted tree but its place in the list of the tree's tasks;
 * false where the time was over before. Its calls go first, which are found by its history; its files
 * last, which are found by its id. May be done again, and goes on where it was left.
 */
export const clearTask = async (
  rootId: Id<'task'>,
  taskId: Id<'task'>,
  isOver: () => boolean,
): Promise<boolean> => {
  const [task] = await getTasks([taskId])
  const ids = await callsOf(taskId)
  const running = await noteRunning(partKey(rootId, taskId), ids)
  const all = [...new Set([...ids, ...running])]
  if (!(await inGroups(all, AT_ONCE, clearCall, isOver))) return false
  if (task?.slots) await table.remove(placeIn(task.slots, task))
  const lists = [`open#${taskId}`, `waiters#${taskId}`, `watchers#${taskId}`, taskId]
  const rows = (await Promise.all(lists.map(pk => table.queryAll(Row, { pk })))).flat()
  const last = taskKey(taskId)
  const others = rows.filter(row => row.sk !== last.sk && !isOfRemains(row))
  if (!(await inGroups(others, AT_ONCE, table.remove, isOver))) return false
  await table.remove(last)
  await removeObjects(`large/${taskId}/`)
  return true
}

/** Removes one call: its decisions, its files, its record. */
const clearCall = async (id: Id<'call'>): Promise<void> => {
  for (const key of await table.queryAll(Row, { pk: `decision#${id}` })) await table.remove(key)
  for (const folder of ['large', 'results']) await removeObjects(`${folder}/${id}/`)
  await table.remove(callKey(id))
}

/** What runs as it is removed may still keep a long result: whoever looks later knows of it. */
const noteRunning = async (key: table.Key, ids: Id<'call'>[]): Promise<Id<'call'>[]> => {
  const [part, calls] = await Promise.all([table.get(Part, key), readCalls(ids)])
  const known = part?.running ?? []
  const running = [...calls.values()]
    .filter(({ status }) => status === 'STARTED' || status === 'UNKNOWN')
    .map(({ id }) => id)
    .filter(id => !known.includes(id))
  if (running.length === 0) return known
  const all = [...known, ...running]
  await table.update(Part, key, { set: { running: all } })
  return all
}
