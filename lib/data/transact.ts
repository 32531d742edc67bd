import {
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { dynamodb } from '../aws/dynamodb.ts'
import { config } from '../core/config.ts'
import { newNonce } from '../core/ids.ts'
import { despiteConflicts } from './conflict.ts'
import {
  type Change,
  collector,
  conditionOf,
  is,
  MARSHALL_OPTIONS,
  type Where,
} from './expression.ts'
import { attributesOf, type Key, updateRequest, type Write } from './item.ts'
import { countUsage } from './usage.ts'

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
  const request = new TransactWriteItemsCommand({
    TransactItems: writes.map(transactItem),
    ClientRequestToken: newNonce(),
    ReturnConsumedCapacity: 'TOTAL',
  })
  return despiteConflicts(async () => {
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
      throw error
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
    return { Put: { TableName, Item: item } }
  }
  if ('update' in write) {
    const presence = write.create ? {} : { pk: is.present }
    return { Update: updateRequest(write.key, write.update, { ...presence, ...write.where }) }
  }
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
