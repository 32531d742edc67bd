import type { AttributeValue, TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { transactWriteItems } from '../aws/dynamodb.ts'
import { config } from '../core/config.ts'
import { newNonce } from '../core/ids.ts'
import { despiteConflicts, isCancelled } from './conflict.ts'
import {
  type Change,
  collector,
  conditionOf,
  is,
  MARSHALL_OPTIONS,
  type Where,
} from './expression.ts'
import { attributesOf, type Key, updateRequest, type Write } from './item.ts'
import { moveOn } from './move-on.ts'
import { countUsage } from './usage.ts'
import { atKnownVersion, isOld, notNewer } from './versions.ts'

type Item = Record<string, AttributeValue>

/**
 * One write of a transaction; `where` is its condition. `put` replaces what is there; `update`
 * makes no item unless `create` says so.
 */
export type TransactionWrite =
  | ({ insert: object } & Write)
  | ({ put: object } & Write)
  | { update: Change; key: Key; where?: Where; create?: true }
  | { remove: Key; where?: Where }
  | { check: Key; where: Where }

/**
 * Writes all or nothing. Where a condition failed, says which of the writes it was. A transaction
 * that met another one on the same items is tried again, at random intervals.
 */
export const transact = async (
  writes: TransactionWrite[],
): Promise<{ ok: true } | { ok: false; failed: number[] }> => {
  const outcome = await attempt(writes)
  if ('old' in outcome) {
    await Promise.all(outcome.old.map(moveOn))
    return transact(writes)
  }
  return outcome
}

const attempt = (
  writes: TransactionWrite[],
): Promise<{ ok: true } | { ok: false; failed: number[] } | { old: Item[] }> => {
  const request = {
    TransactItems: writes.map(transactItem),
    ClientRequestToken: newNonce(),
    ReturnConsumedCapacity: 'TOTAL',
  } as const
  return despiteConflicts(async () => {
    try {
      const response = await transactWriteItems(request)
      countUsage('write', response.ConsumedCapacity)
      return { ok: true }
    } catch (error) {
      if (!isCancelled(error)) throw error
      const reasons = error.CancellationReasons ?? []
      const failed = reasons.flatMap(({ Code }, index) =>
        Code === 'ConditionalCheckFailed' ? index : [],
      )
      if (failed.length === 0) throw error
      const items = failed.map(index => reasons[index]?.Item).filter(item => item !== undefined)
      const old = items.filter(isOld)
      return old.length > 0 ? { old } : { ok: false, failed }
    }
  })
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
  if ('put' in write) {
    const item = marshall({ ...write.put, ...attributesOf(write) }, MARSHALL_OPTIONS)
    const collect = collector()
    const condition = conditionOf(notNewer(write.key), collect)
    return {
      Put: {
        TableName,
        Item: item,
        ConditionExpression: condition,
        ...collect.attributes(),
        ...WITH_ITEM,
      },
    }
  }
  if ('update' in write) {
    const presence = write.create ? {} : { pk: is.present }
    const update = updateRequest(write.key, write.update, { ...presence, ...write.where })
    return { Update: { ...update, ...WITH_ITEM } }
  }
  const key = 'remove' in write ? write.remove : write.check
  const collect = collector()
  const condition = conditionOf(atShape(key, write.where ?? {}), collect)
  if ('remove' in write)
    return {
      Delete: {
        TableName,
        Key: marshall(write.remove),
        ConditionExpression: condition,
        ...collect.attributes(),
        ...WITH_ITEM,
      },
    }
  return {
    ConditionCheck: {
      TableName,
      Key: marshall(write.check),
      ConditionExpression: condition,
      ...collect.attributes(),
      ...WITH_ITEM,
    },
  }
}

/** A row of another version fails a condition whatever it says, and has to be known for one. */
const WITH_ITEM = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const

/** Whatever looks at nothing but whether there is a row asks for no version of it. */
const atShape = (key: Key, where: Where): Where =>
  Object.keys(where).every(name => name === 'pk') ? where : atKnownVersion(key, where)
