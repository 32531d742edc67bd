import * as z from 'zod'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { type Id, idOf } from '../core/ids.ts'
import { DUE_ATTRIBUTES } from '../data/due.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { PrincipalId } from '../principal/principal.ts'

/** What stays of a deleted task, so that its deletion can be finished, and its id not be taken. */
export const TaskRemains = z.object({
  id: idOf('task'),
  agentId: idOf('agent'),
  principalId: PrincipalId,
  /** Who deleted it. */
  by: z.string(),
  deletedAt: z.iso.datetime(),
  /** All tasks of its tree are among its parts, and none of them moves any more. */
  gatheredAt: z.iso.datetime().optional(),
  /** Nothing else of its tree is left, but what functions may still write that run by then. */
  clearedAt: z.iso.datetime().optional(),
})
export type TaskRemains = z.infer<typeof TaskRemains>

/** One task of a deleted tree, and how far its deletion is. */
export const Part = z.object({
  taskId: idOf('task'),
  state: z.enum(['found', 'gathered', 'cleared']),
  /** Calls of it that were running as they were deleted: they may still keep a long result. */
  running: z.array(idOf('call')).optional(),
})
export type Part = z.infer<typeof Part>

// Access patterns: what stays of one deleted task, under its own leading key; the tasks of its tree;
// and the deletions that are to be gone on with, by time. Those are few: one key holds them all.
export const remainsKey = (id: Id<'task'>): table.Key => ({ pk: id, sk: 'remains' })
export const partKey = (rootId: Id<'task'>, taskId: Id<'task'>): table.Key => ({
  pk: rootId,
  sk: `part#${taskId}`,
})
export const DELETIONS = 'deleted'
export const deletionIndex = (id: Id<'task'>, at: string) => ({
  gsi3pk: DELETIONS,
  gsi3sk: `${at}#${id}`,
})

/** Whether a row under a task's leading key is about its deletion. */
export const isOfRemains = ({ sk }: table.Key): boolean => /^(remains$|part#)/.test(sk)

/** What is left of a deleted task while something is; undefined afterwards, and before. */
export const findTaskRemains = async (id: Id<'task'>): Promise<TaskRemains | undefined> => {
  const remains = await table.get(TaskRemains, remainsKey(id))
  return remains?.clearedAt === undefined ? remains : undefined
}

export const listParts = (rootId: Id<'task'>): Promise<Part[]> =>
  table.queryAll(Part, { pk: rootId, prefix: 'part#' })

/** The deletions that were to be gone on with by now, so many at most. */
export const listDeletions = async (
  limit: number,
  clock: Clock = systemClock,
): Promise<Id<'task'>[]> => {
  const list = { index: 'gsi3', pk: DELETIONS, before: isoNow(clock), limit } as const
  return (await table.query(z.object({ id: idOf('task') }), list)).items.map(({ id }) => id)
}

/** Notes, once, how far a deletion is, and when it is gone on with. */
export const noteProgress = async (
  id: Id<'task'>,
  step: 'gatheredAt' | 'clearedAt',
  { inMs, clock = systemClock }: { inMs: number; clock?: Clock },
): Promise<void> => {
  const set = { [step]: isoNow(clock), ...deletionIndex(id, isoIn(inMs, clock)) }
  await table.update(TaskRemains, remainsKey(id), { set }, { where: { [step]: is.absent } })
}

/** Has a deletion gone on with after a while, whatever becomes of it now. */
export const postponeDeletion = async (
  id: Id<'task'>,
  inMs: number,
  clock: Clock = systemClock,
): Promise<TaskRemains | undefined> => {
  const set = deletionIndex(id, isoIn(inMs, clock))
  return (await table.update(TaskRemains, remainsKey(id), { set })).item
}

/** Nobody looks at a deletion any more: only the id is left. */
export const closeDeletion = async (id: Id<'task'>): Promise<void> => {
  await table.update(TaskRemains, remainsKey(id), { remove: DUE_ATTRIBUTES })
}
