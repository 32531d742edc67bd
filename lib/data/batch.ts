import { setTimeout as sleep } from 'node:timers/promises'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { batchGetItem } from '../aws/dynamodb.ts'
import { config } from '../core/config.ts'
import type { Key } from './item.ts'
import { countUsage } from './usage.ts'

/** DynamoDB's limit of one BatchGetItem. */
const BATCH_GET_KEYS = 100
/** The first wait for the keys that DynamoDB left out of a batch, at most doubled this often. */
const UNPROCESSED_BASE_MS = 20
const UNPROCESSED_DOUBLINGS = 6

/** The items of distinct keys that exist, in no order: one consistent read for each hundred keys. */
export const readBatches = async (keys: Key[]): Promise<Record<string, AttributeValue>[]> => {
  const batches = Array.from({ length: Math.ceil(keys.length / BATCH_GET_KEYS) }, (_, index) =>
    keys.slice(index * BATCH_GET_KEYS, (index + 1) * BATCH_GET_KEYS),
  )
  return (await Promise.all(batches.map(readBatch))).flat()
}

const readBatch = async (keys: Key[]): Promise<Record<string, AttributeValue>[]> => {
  const table = config('table')
  const items: Record<string, AttributeValue>[] = []
  let rest: Record<string, AttributeValue>[] = keys.map(key => marshall(key))
  for (let attempt = 1; rest.length > 0; attempt++) {
    const response = await batchGetItem({
      RequestItems: { [table]: { Keys: rest, ConsistentRead: true } },
      ReturnConsumedCapacity: 'TOTAL',
    })
    countUsage('read', response.ConsumedCapacity)
    items.push(...(response.Responses?.[table] ?? []))
    rest = response.UnprocessedKeys?.[table]?.Keys ?? []
    if (rest.length > 0)
      await sleep(
        Math.random() * UNPROCESSED_BASE_MS * 2 ** Math.min(attempt, UNPROCESSED_DOUBLINGS),
      )
  }
  return items
}
