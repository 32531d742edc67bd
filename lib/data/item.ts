import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type * as z from 'zod'
import { config } from '../core/config.ts'
import { AppError } from '../core/errors.ts'
import { type Change, collector, conditionOf, updateOf, type Where } from './expression.ts'

/** Where an item is. */
export type Key = { pk: string; sk: string }
export type Schema<T> = z.ZodType<T>
/** What an item has beside its own fields: its key, its places in indexes, its end. */
export type Write = { key: Key; indexes?: Record<string, string>; ttl?: number }

export const attributesOf = ({ key, indexes = {}, ttl }: Write) => ({ ...key, ...indexes, ttl })

/** The part of an update that a request of its own and one in a transaction share. */
export const updateRequest = (key: Key, change: Change, where: Where) => {
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

/** An item as its schema has it; one that doesn't fit is INTERNAL, naming fields and no values. */
export const parse = <T>(schema: Schema<T>, item: Record<string, AttributeValue>): T => {
  const parsed = schema.safeParse(unmarshall(item))
  if (parsed.success) return parsed.data
  const fields = parsed.error.issues.map(issue => issue.path.join('.')).join(', ')
  throw new AppError(
    'INTERNAL',
    `The item ${item.pk?.S} / ${item.sk?.S} has bad fields: ${fields}.`,
  )
}
