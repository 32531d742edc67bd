import * as z from 'zod'
import type { Id } from '../core/ids.ts'
import * as table from '../data/table.ts'

// Access patterns: what a parent still waits for. Each child has a marker of its own under its
// parent, so that no two siblings ever write the same item.
export const childMarker = (parentId: Id<'task'>, childId: Id<'task'>): table.Key => ({
  pk: `open#${parentId}`,
  sk: childId,
})

/** Whether nothing is open under a parent any more: read after one's own marker is gone. */
export const allEnded = async (parentId: Id<'task'>): Promise<boolean> => {
  const page = await table.query(Marker, { pk: `open#${parentId}`, limit: 1 })
  return page.items.length === 0
}

/** The children of a task that have not ended. */
export const listOpen = async (parentId: Id<'task'>): Promise<Id<'task'>[]> => {
  const markers = await table.queryAll(Marker, { pk: `open#${parentId}` })
  return markers.map(({ sk }) => sk as Id<'task'>)
}

const Marker = z.object({ sk: z.string() })
