/**
 * The one table. Every item has `pk` and `sk`; the indexes are sparse: an item is in one only
 * while it has that index's attributes.
 *
 * gsi1: what a principal owns, by kind, newest first (`<principal>#<kind>`, time and id)
 * gsi2: what waits on a person (`<principal>`), an agent's tasks and keys (`<agent>#task`,
 *   `<agent>#key`), the agents that name an LLM configuration (`<configuration>#agent`), by time and
 *   id
 * gsi3: what should have moved by a time: unfinished tasks, and calls outside of tasks
 *   (`open#<shard>`, time and id), notices that were not delivered yet (`unsent#<shard>`), and
 *   deletions of tasks (`deleted`)
 */
export const PRIMARY_KEY = { hashKey: 'pk', rangeKey: 'sk' } as const

export const INDEXES = {
  gsi1: { hashKey: 'gsi1pk', rangeKey: 'gsi1sk' },
  gsi2: { hashKey: 'gsi2pk', rangeKey: 'gsi2sk' },
  gsi3: { hashKey: 'gsi3pk', rangeKey: 'gsi3sk' },
} as const

export type IndexName = keyof typeof INDEXES

/** The attribute in epoch seconds at which DynamoDB removes an item. */
export const TTL_ATTRIBUTE = 'ttl'
