import * as z from 'zod'
import type { Id } from '../core/ids.ts'
import * as table from '../data/table.ts'

// Access patterns: what a parent still waits for. Each child has a marker of its own under its
// parent, so that no two siblings ever write the same item; so has a spawn that isn't complete.
export const childMarker = (parentId: Id<'task'>, childId: Id<'task'>): table.Key => ({
  pk: `open#${parentId}`,
  sk: childId,
})
export const spawnMarker = (parentId: Id<'task'>, callId: Id<'call'>): table.Key => ({
  pk: `open#${parentId}`,
  sk: `spawn#${callId}`,
})

/** Whether nothing is open under a parent any more: read after one's own marker is gone. */
export const allEnded = async (parentId: Id<'task'>): Promise<boolean> => {
  const page = await table.query(Marker, { pk: `open#${parentId}`, limit: 1 })
  return page.items.length === 0
}

/** The children of a task that have not ended. */
export const listOpen = async (parentId: Id<'task'>): Promise<Id<'task'>[]> => {
  const markers = await table.queryAll(Marker, { pk: `open#${parentId}`, prefix: 'task_' })
  return markers.map(({ sk }) => sk as Id<'task'>)
}

const Marker = z.object({ sk: z.string() })
