import type { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import * as dynamodb from '../aws/dynamodb.ts'
import { isAnswer } from '../aws/service-error.ts'
import { config } from '../core/config.ts'
import { newNonce } from '../core/ids.ts'
import { readBatches } from './batch.ts'
import { despiteConflicts } from './conflict.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { INDEXES, type IndexName, PRIMARY_KEY } from './definition.ts'
import {
  type Change,
  collector,
  conditionOf,
  is,
  MARSHALL_OPTIONS,
  type Where,
} from './expression.ts'
import { attributesOf, type Key, parse, type Schema, updateRequest, type Write } from './item.ts'
import { moveOn } from './move-on.ts'
import { countUsage } from './usage.ts'
import { isOld } from './versions.ts'

export type { Key } from './item.ts'

/** What became of a conditional write; where its condition failed, the item as it stands. */
export type Outcome<T> = { ok: true; item: T } | { ok: false; item: T | undefined }

/** One item as it is now (a consistent read), or undefined. */
export const get = async <T>(schema: Schema<T>, key: Key): Promise<T | undefined> => {
  const response = await dynamodb.getItem({
    TableName: config('table'),
    Key: marshall(key),
    ConsistentRead: true,
    ReturnConsumedCapacity: 'TOTAL',
  })
  countUsage('read', response.ConsumedCapacity)
  return response.Item && parse(schema, response.Item)
}

/** What a batched read found; each item is parsed as it is asked for. */
export type Found = { get: <T>(schema: Schema<T>, key: Key) => T | undefined }

/** Any number of items in one consistent read for each hundred keys. */
export const batchGet = async (keys: Key[]): Promise<Found> => {
  const unique = [...new Map(keys.map(key => [nameOf(key), key])).values()]
  const items = await readBatches(unique)
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

/**
 * Adds an item whose key is free; where it is taken, says so with the item that has it. Each
 * insert leaves a nonce, so that one whose answer was lost finds itself and not a rival.
 */
export const insert = async <T extends object>(
  schema: Schema<T>,
  item: T,
  write: Write,
): Promise<Outcome<T>> => {
  const mark = { attribute: 'insertedBy', nonce: newNonce() }
  return conditional(schema, mark, async () => {
    const response = await dynamodb.putItem({
      TableName: config('table'),
      Item: marshall(
        { ...item, ...attributesOf(write), [mark.attribute]: mark.nonce },
        MARSHALL_OPTIONS,
      ),
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      ReturnConsumedCapacity: 'TOTAL',
    })
    countUsage('write', response.ConsumedCapacity)
    return item
  })
}

/**
 * Changes an item on a condition and returns it as it then is. It makes no item unless `create`
 * says so. With `claim`, the write leaves that nonce in the attribute `claim`: a condition that
 * fails on an item holding our own nonce means that an earlier attempt landed and its answer was
 * lost.
 */
export const update = async <T>(
  schema: Schema<T>,
  key: Key,
  change: Change,
  { where = {}, claim, create = false }: { where?: Where; claim?: string; create?: boolean } = {},
): Promise<Outcome<T>> => {
  const mark = claim === undefined ? undefined : { attribute: 'claim', nonce: claim }
  return conditional(schema, mark, () =>
    onceMovedOn(async () => {
      const response = await dynamodb.updateItem({
        ...updateRequest(
          key,
          claim ? { ...change, set: { ...change.set, claim } } : change,
          create ? where : { pk: is.present, ...where },
        ),
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        ReturnConsumedCapacity: 'TOTAL',
      })
      countUsage('write', response.ConsumedCapacity)
      return parse(schema, response.Attributes ?? {})
    }),
  )
}

/** Removes an item; true where it was there. */
export const remove = async (key: Key): Promise<boolean> => {
  const response = await dynamodb.deleteItem({
    TableName: config('table'),
    Key: marshall(key),
    ReturnValues: 'ALL_OLD',
    ReturnConsumedCapacity: 'TOTAL',
  })
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
    /** Both ends are within. */
    between?: readonly [string, string]
    /** What else an item has to be: those that aren't are read all the same, and count as read. */
    where?: Where
    newestFirst?: boolean
    limit?: number
    cursor?: string
  },
): Promise<Page<T>> => {
  const { hashKey, rangeKey } = options.index ? INDEXES[options.index] : PRIMARY_KEY
  const collect = collector()
  const conditions = [`${collect.name(hashKey)} = ${collect.value(options.pk)}`]
  if (options.prefix !== undefined)
    conditions.push(`begins_with(${collect.name(rangeKey)}, ${collect.value(options.prefix)})`)
  if (options.before !== undefined)
    conditions.push(`${collect.name(rangeKey)} < ${collect.value(options.before)}`)
  if (options.between !== undefined) {
    const [from, to] = options.between
    const name = collect.name(rangeKey)
    conditions.push(`${name} BETWEEN ${collect.value(from)} AND ${collect.value(to)}`)
  }
  const list = { hashKey, rangeKey, pk: options.pk, prefix: options.prefix ?? '' }
  const response = await dynamodb.query({
    TableName: config('table'),
    IndexName: options.index,
    ConsistentRead: options.index === undefined,
    KeyConditionExpression: conditions.join(' AND '),
    FilterExpression: options.where && conditionOf(options.where, collect),
    ScanIndexForward: !options.newestFirst,
    Limit: options.limit,
    ExclusiveStartKey: options.cursor ? decodeCursor(options.cursor, list) : undefined,
    ReturnConsumedCapacity: 'TOTAL',
    ...collect.attributes(),
  })
  countUsage('read', response.ConsumedCapacity)
  return {
    items: (response.Items ?? []).map(item => parse(schema, item)),
    ...(response.LastEvaluatedKey ? { cursor: encodeCursor(response.LastEvaluatedKey) } : {}),
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

const conditional = async <T>(
  schema: Schema<T>,
  mark: { attribute: string; nonce: string } | undefined,
  work: () => Promise<T>,
): Promise<Outcome<T>> => {
  try {
    return { ok: true, item: await despiteConflicts(work) }
  } catch (error) {
    if (!isConditionFailed(error)) throw error
    countUsage('write', undefined)
    // Asked of the item itself: a schema need not know the attribute.
    const ours = mark && error.Item?.[mark.attribute]?.S === mark.nonce
    if (ours && error.Item) return { ok: true, item: parse(schema, error.Item) }
    return { ok: false, item: error.Item && parse(schema, error.Item) }
  }
}

/** A write whose condition an old row has failed is done again once the row has been moved on. */
const onceMovedOn = async <T>(write: () => Promise<T>): Promise<T> => {
  try {
    return await write()
  } catch (error) {
    if (!isConditionFailed(error)) throw error
    if (!error.Item || !isOld(error.Item)) throw error
    countUsage('write', undefined)
    await moveOn(error.Item)
    return onceMovedOn(write)
  }
}

const isConditionFailed = (error: unknown): error is ConditionalCheckFailedException =>
  isAnswer(error, 'ConditionalCheckFailedException')

const nameOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk])
