import * as z from 'zod'
import type { Id } from '../core/ids.ts'
import * as table from '../data/table.ts'
import type { Task } from './task.ts'

/**
 * What stands under a task. A `child` that it waits for, or will wait for at its end; a `detached`
 * one, which it never waits for, and whose marker stands under all above it, since each of them may
 * end first; the `spawning` of several, until all of them are there; and a `wait` for a task
 * anywhere in its tree, which at first is only `claimed`.
 */
const MarkerKind = z.enum(['child', 'detached', 'spawning', 'claimed', 'wait'])
export type MarkerKind = z.infer<typeof MarkerKind>

export const Marker = z.object({
  sk: z.string(),
  kind: MarkerKind,
  /** Of a wait: whose writing it was. */
  nonce: z.string().exactOptional(),
})
export type Marker = z.infer<typeof Marker>

// Access patterns: all that is open under a task, or what is open of one of its calls. Each child
// has a marker of its own, so that no two siblings ever write the same item, and so that one call's
// children are told from another's.
export const markerKey = (
  holderId: Id<'task'>,
  callId: Id<'call'>,
  name: Id<'task'> | 'spawning',
): table.Key => ({ pk: `open#${holderId}`, sk: `${callId}#${name}` })

/** Whether nobody waits for a task, nor is told of its end. */
export const isDetached = ({ spawn }: Pick<Task, 'spawn'>): boolean =>
  spawn !== undefined && !spawn.awaited && !spawn.attention

/** The markers that a task has while it is open; none, where nobody spawned it. */
export const markersOf = (
  task: Pick<Task, 'id' | 'parentId' | 'lineage' | 'spawn'>,
): { key: table.Key; kind: MarkerKind }[] => {
  const { id, parentId, lineage, spawn } = task
  if (!parentId || !spawn) return []
  const holders = isDetached(task) ? lineage : [parentId]
  const kind = isDetached(task) ? 'detached' : 'child'
  return holders.map(holder => ({ key: markerKey(holder, spawn.callId, id), kind }))
}

/** Whether nothing is open of a task's call any more: read after one's own marker is gone. */
export const noneLeft = async (holderId: Id<'task'>, callId: Id<'call'>): Promise<boolean> => {
  const list = { pk: `open#${holderId}`, prefix: `${callId}#`, limit: 1 }
  return (await table.query(Marker, list)).items.length === 0
}

export type Open = { callId: Id<'call'>; taskId: Id<'task'>; kind: MarkerKind; nonce?: string }

/** All that is open under a task. */
export const listMarkers = async (holderId: Id<'task'>): Promise<Open[]> => {
  const markers = await table.queryAll(Marker, { pk: `open#${holderId}` })
  return markers.map(({ sk, kind, nonce }) => {
    const [callId, taskId] = sk.split('#') as [Id<'call'>, Id<'task'>]
    return { callId, taskId, kind, ...(nonce === undefined ? {} : { nonce }) }
  })
}

/** The tasks below a task that have not ended: its children, and all that are detached. */
export const listOpen = async (holderId: Id<'task'>): Promise<Id<'task'>[]> =>
  (await listMarkers(holderId))
    .filter(({ kind }) => kind === 'child' || kind === 'detached')
    .map(({ taskId }) => taskId)
