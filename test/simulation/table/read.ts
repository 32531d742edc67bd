import type {
  AttributeValue,
  BatchGetItemCommandInput,
  GetItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import { capacityOf, isAsked, readUnits } from './capacity.ts'
import { invalid, unsupported } from './errors.ts'
import { checkParameters, keyOf } from './request.ts'
import type { View } from './rows.ts'

/** DynamoDB's limits of one BatchGetItem: keys, and bytes of its answer. */
const MAX_BATCH_KEYS = 100
const MAX_BATCH_BYTES = 16 * 1_024 * 1_024

const GET = new Set(['TableName', 'Key', 'ConsistentRead', 'ReturnConsumedCapacity'])
const BATCH = new Set(['RequestItems', 'ReturnConsumedCapacity'])
const BATCH_TABLE = new Set(['Keys', 'ConsistentRead'])

export const getItem = (view: View, input: GetItemCommandInput): object => {
  checkParameters('GetItem', input, GET)
  const { pk, sk } = keyOf(input.Key)
  const row = view.get(pk, sk)
  return {
    ...(row ? { Item: { ...row.item } } : {}),
    ...capacityOf(input, input.TableName, () => unitsOf(row?.bytes ?? 0, input.ConsistentRead)),
  }
}

/** Answers in the keys' order and, past 16 MB, leaves the rest of the keys to another request. */
export const batchGetItem = (view: View, input: BatchGetItemCommandInput): object => {
  checkParameters('BatchGetItem', input, BATCH)
  const [[table, request] = [], ...others] = Object.entries(input.RequestItems ?? {})
  if (table === undefined || !request) throw invalid('RequestItems must not be empty')
  if (others.length > 0) throw unsupported('more than one table')
  checkParameters('BatchGetItem', request, BATCH_TABLE)
  const keys = request.Keys ?? []
  if (keys.length === 0 || keys.length > MAX_BATCH_KEYS)
    throw invalid(`There must be 1 to ${MAX_BATCH_KEYS} keys`)
  const places = keys.map(keyOf)
  if (new Set(places.map(({ pk, sk }) => JSON.stringify([pk, sk]))).size < keys.length)
    throw invalid('Provided list of item keys contains duplicates')

  const items: Record<string, AttributeValue>[] = []
  let [bytes, units, done] = [0, 0, 0]
  for (const { pk, sk } of places) {
    const row = view.get(pk, sk)
    bytes += row?.bytes ?? 0
    if (bytes > MAX_BATCH_BYTES) break
    units += unitsOf(row?.bytes ?? 0, request.ConsistentRead)
    if (row) items.push({ ...row.item })
    done += 1
  }
  const rest = keys.slice(done)
  return {
    Responses: { [table]: items },
    UnprocessedKeys: rest.length > 0 ? { [table]: { ...request, Keys: rest } } : {},
    ...(isAsked(input.ReturnConsumedCapacity)
      ? { ConsumedCapacity: [{ TableName: table, CapacityUnits: units }] }
      : {}),
  }
}

export const unitsOf = (bytes: number, isConsistent: boolean | undefined): number =>
  isConsistent ? readUnits(bytes) : readUnits(bytes) / 2
