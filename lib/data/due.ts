import * as z from 'zod'
import type { Id } from '../core/ids.ts'
import * as table from './table.ts'

// Access patterns: what should have moved by a time and is looked after where it hasn't, the
// longest overdue first: unfinished tasks, and calls that belong to none; and, in a list of their
// own, so that what can't be delivered never keeps a task waiting, deliveries of notices. In shards.

/** How many keys each list is spread over, so that none of them gets hot. */
export const DUE_SHARDS = 8

type DueList = 'open' | 'unsent'
type DueId = Id<'task'> | Id<'call'> | Id<'delivery'>

export const dueShard = (shard: number, list: DueList = 'open'): string => `${list}#${shard}`

/** Puts an item where the sweeper looks, from a time on. */
export const dueIndex = (id: DueId, at: string) => ({
  gsi3pk: dueShard(shardOf(id), id.startsWith('delivery_') ? 'unsent' : 'open'),
  gsi3sk: `${at}#${id}`,
})
export const DUE_ATTRIBUTES = ['gsi3pk', 'gsi3sk']

/** A place in the list; whoever looks after the item reads it anew. */
const Due = z.object({ pk: z.string(), sk: z.string(), gsi3sk: z.string() })
export type Due = z.infer<typeof Due>

/** What of a shard was due before a time. Of each item only its key: no bad one hides the others. */
export const listDue = async (
  shard: number,
  before: string,
  limit: number,
  list: DueList = 'open',
): Promise<Due[]> =>
  (await table.query(Due, { index: 'gsi3', pk: dueShard(shard, list), before, limit })).items

/** All of a shard, whenever it is due. */
export const listAllDue = (shard: number): Promise<Due[]> =>
  table.queryAll(Due, { index: 'gsi3', pk: dueShard(shard) })

/** Passes an item over until a time, unless someone has given it another one meanwhile. */
export const postpone = ({ pk, sk, gsi3sk }: Due, at: string) =>
  table.update(z.object({}), { pk, sk }, { set: dueIndex(pk as DueId, at) }, { where: { gsi3sk } })

/** Ids of any kind end in 80 random or hashed bits, so their last characters spread evenly. */
const shardOf = (id: string): number => id.charCodeAt(id.length - 1) % DUE_SHARDS
