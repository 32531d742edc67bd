import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type * as z from 'zod'
import { dynamodb } from '../aws/dynamodb.ts'
import { config } from '../core/config.ts'
import { AppError } from '../core/errors.ts'
import { newNonce } from '../core/ids.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { INDEXES, type IndexName } from './definition.ts'
import {
  type Change,
  collector,
  conditionOf,
  is,
  MARSHALL_OPTIONS,
  updateOf,
  type Where,
} from './expression.ts'
import { countUsage } from './usage.ts'

export type Key = { pk: string; sk: string }
type Schema<T> = z.ZodType<T>
/** What became of a conditional write; where its condition failed, the item as it stands. */
export type Outcome<T> = { ok: true; item: T } | { ok: false; item: T | undefined }

/** DynamoDB's limit of one BatchGetItem. */
const BATCH_GET_KEYS = 100
/** How often a transaction that met another one is tried again; the SDK doesn't. */
const CONFLICT_ATTEMPTS = 8
const CONFLICT_BASE_MS = 20

/** One item as it is now (a consistent read), or undefined. */
export const get = async <T>(schema: Schema<T>, key: Key): Promise<T | undefined> => {
  const response = await dynamodb().send(
    new GetItemCommand({
      TableName: config('table'),
      Key: marshall(key),
      ConsistentRead: true,
      ReturnConsumedCapacity: 'TOTAL',
    }),
  )
  countUsage('read', response.ConsumedCapacity)
  return response.Item && parse(schema, response.Item)
}

/** What a batched read found; each item is parsed as it is asked for. */
export type Found = { get: <T>(schema: Schema<T>, key: Key) => T | undefined }

/** Any number of items in one consistent read for each hundred keys. */
export const batchGet = async (keys: Key[]): Promise<Found> => {
  const unique = [...new Map(keys.map(key => [nameOf(key), key])).values()]
  const batches = Array.from({ length: Math.ceil(unique.length / BATCH_GET_KEYS) }, (_, index) =>
    unique.slice(index * BATCH_GET_KEYS, (index + 1) * BATCH_GET_KEYS),
  )
  const items = (await Promise.all(batches.map(readBatch))).flat()
  const byKey = new Map(
    items.map(item => [nameOf({ pk: item.pk?.S ?? '', sk: item.sk?.S ?? '' }), item]),
  )
  return {
    get: (schema, key) => {
      const item = byKey.get(nameOf(key))
      return item && parse(schema, item)
    },
  }
}

type Write = { key: Key; indexes?: Record<string, string>; ttl?: number }

/** Adds an item whose key is free; where it is taken, says so with the item that has it. */
export const insert = async <T extends object>(
  schema: Schema<T>,
  item: T,
  write: Write,
): Promise<Outcome<T>> =>
  conditional(schema, async () => {
    const response = await dynamodb().send(
      new PutItemCommand({
        TableName: config('table'),
        Item: marshall({ ...item, ...attributesOf(write) }, MARSHALL_OPTIONS),
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        ReturnConsumedCapacity: 'TOTAL',
      }),
    )
    countUsage('write', response.ConsumedCapacity)
    return item
  })

/**
 * Changes an item on a condition and returns it as it then is. It makes no item unless `create`
 * says so. With `claim`, the write leaves that nonce in the attribute `claim`: a condition that fails on
 * an item holding our own nonce means that an earlier attempt landed and its answer was lost.
 */
export const update = async <T>(
  schema: Schema<T>,
  key: Key,
  change: Change,
  { where = {}, claim, create = false }: { where?: Where; claim?: string; create?: boolean } = {},
): Promise<Outcome<T>> => {
  const outcome = await conditional(schema, async () => {
    const response = await dynamodb().send(
      new UpdateItemCommand({
        ...updateRequest(
          key,
          claim ? { ...change, set: { ...change.set, claim } } : change,
          create ? where : { pk: is.present, ...where },
        ),
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        ReturnConsumedCapacity: 'TOTAL',
      }),
    )
    countUsage('write', response.ConsumedCapacity)
    return parse(schema, response.Attributes ?? {})
  })
  if (!outcome.ok && claim && (outcome.item as { claim?: string } | undefined)?.claim === claim)
    return { ok: true, item: outcome.item as T }
  return outcome
}

/** Removes an item; true where it was there. */
export const remove = async (key: Key): Promise<boolean> => {
  const response = await dynamodb().send(
    new DeleteItemCommand({
      TableName: config('table'),
      Key: marshall(key),
      ReturnValues: 'ALL_OLD',
      ReturnConsumedCapacity: 'TOTAL',
    }),
  )
  countUsage('write', response.ConsumedCapacity)
  return response.Attributes !== undefined
}

export type Page<T> = { items: T[]; cursor?: string }

/**
 * One page of the items under one key, in order of the sort key: of the table (consistent) or of
 * an index (which may lag, so nothing that decides reads one). `cursor` continues a page.
 */
export const query = async <T>(
  schema: Schema<T>,
  options: {
    pk: string
    index?: IndexName
    prefix?: string
    before?: string
    newestFirst?: boolean
    limit?: number
    cursor?: string
  },
): Promise<Page<T>> => {
  const { hashKey, rangeKey } = options.index
    ? INDEXES[options.index]
    : { hashKey: 'pk', rangeKey: 'sk' }
  const collect = collector()
  const conditions = [`${collect.name(hashKey)} = ${collect.value(options.pk)}`]
  if (options.prefix !== undefined)
    conditions.push(`begins_with(${collect.name(rangeKey)}, ${collect.value(options.prefix)})`)
  if (options.before !== undefined)
    conditions.push(`${collect.name(rangeKey)} < ${collect.value(options.before)}`)
  const scope = `${options.index ?? 'table'}:${options.pk}`
  const response = await dynamodb().send(
    new QueryCommand({
      TableName: config('table'),
      IndexName: options.index,
      ConsistentRead: options.index === undefined,
      KeyConditionExpression: conditions.join(' AND '),
      ScanIndexForward: !options.newestFirst,
      Limit: options.limit,
      ExclusiveStartKey: options.cursor ? decodeCursor(options.cursor, scope) : undefined,
      ReturnConsumedCapacity: 'TOTAL',
      ...collect.attributes(),
    }),
  )
  countUsage('read', response.ConsumedCapacity)
  return {
    items: (response.Items ?? []).map(item => parse(schema, item)),
    ...(response.LastEvaluatedKey
      ? { cursor: encodeCursor(response.LastEvaluatedKey, scope) }
      : {}),
  }
}

/** All items under one key, page after page: for collections that a limit bounds. */
export const queryAll = async <T>(
  schema: Schema<T>,
  options: Omit<Parameters<typeof query>[1], 'cursor' | 'limit'>,
): Promise<T[]> => {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const page = await query(schema, { ...options, ...(cursor ? { cursor } : {}) })
    items.push(...page.items)
    cursor = page.cursor
  } while (cursor)
  return items
}

/** One write of a transaction; `where` is its condition. */
export type TransactionWrite =
  | ({ insert: object } & Write)
  | { update: Change; key: Key; where?: Where }
  | { remove: Key; where?: Where }
  | { check: Key; where: Where }

/**
 * Writes all or nothing. Where a condition failed, says which of the writes it was. A transaction
 * that met another one on the same items is tried again, at random intervals.
 */
export const transact = async (
  writes: TransactionWrite[],
): Promise<{ ok: true } | { ok: false; failed: number[] }> => {
  const request = new TransactWriteItemsCommand({
    TransactItems: writes.map(transactItem),
    ClientRequestToken: newNonce(),
    ReturnConsumedCapacity: 'TOTAL',
  })
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await dynamodb().send(request)
      countUsage('write', response.ConsumedCapacity)
      return { ok: true }
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error
      const codes = error.CancellationReasons?.map(reason => reason.Code) ?? []
      const failed = codes.flatMap((code, index) =>
        code === 'ConditionalCheckFailed' ? index : [],
      )
      if (failed.length > 0) return { ok: false, failed }
      if (!codes.includes('TransactionConflict') || attempt === CONFLICT_ATTEMPTS) throw error
      await sleep(Math.random() * CONFLICT_BASE_MS * 2 ** attempt)
    }
  }
}

const transactItem = (write: TransactionWrite): TransactWriteItem => {
  const TableName = config('table')
  if ('insert' in write)
    return {
      Put: {
        TableName,
        Item: marshall({ ...write.insert, ...attributesOf(write) }, MARSHALL_OPTIONS),
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    }
  if ('update' in write)
    return { Update: updateRequest(write.key, write.update, { pk: is.present, ...write.where }) }
  const collect = collector()
  const condition = conditionOf(write.where ?? {}, collect)
  if ('remove' in write)
    return {
      Delete: {
        TableName,
        Key: marshall(write.remove),
        ConditionExpression: condition,
        ...collect.attributes(),
      },
    }
  return {
    ConditionCheck: {
      TableName,
      Key: marshall(write.check),
      ConditionExpression: condition,
      ...collect.attributes(),
    },
  }
}

const updateRequest = (key: Key, change: Change, where: Where) => {
  const collect = collector()
  const condition = conditionOf(where, collect)
  return {
    TableName: config('table'),
    Key: marshall(key),
    UpdateExpression: updateOf(change, collect),
    ConditionExpression: condition,
    ...collect.attributes(),
  }
}

const attributesOf = ({ key, indexes = {}, ttl }: Write) => ({ ...key, ...indexes, ttl })

const conditional = async <T>(schema: Schema<T>, work: () => Promise<T>): Promise<Outcome<T>> => {
  try {
    return { ok: true, item: await work() }
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error
    countUsage('write', undefined)
    return { ok: false, item: error.Item && parse(schema, error.Item) }
  }
}

const readBatch = async (keys: Key[]): Promise<Record<string, AttributeValue>[]> => {
  const table = config('table')
  const items: Record<string, AttributeValue>[] = []
  let rest: Record<string, AttributeValue>[] = keys.map(key => marshall(key))
  for (let attempt = 1; rest.length > 0; attempt++) {
    const response = await dynamodb().send(
      new BatchGetItemCommand({
        RequestItems: { [table]: { Keys: rest, ConsistentRead: true } },
        ReturnConsumedCapacity: 'TOTAL',
      }),
    )
    countUsage('read', response.ConsumedCapacity)
    items.push(...(response.Responses?.[table] ?? []))
    rest = response.UnprocessedKeys?.[table]?.Keys ?? []
    if (rest.length > 0) await sleep(Math.random() * CONFLICT_BASE_MS * 2 ** Math.min(attempt, 6))
  }
  return items
}

const nameOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk])

const parse = <T>(schema: Schema<T>, item: Record<string, AttributeValue>): T => {
  const parsed = schema.safeParse(unmarshall(item))
  if (parsed.success) return parsed.data
  const fields = parsed.error.issues.map(issue => issue.path.join('.')).join(', ')
  throw new AppError(
    'INTERNAL',
    `The item ${item.pk?.S} / ${item.sk?.S} has bad fields: ${fields}.`,
  )
}
