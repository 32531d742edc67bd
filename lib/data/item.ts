import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type * as z from 'zod'
import { config } from '../core/config.ts'
import { AppError } from '../core/errors.ts'
import { type Change, collector, conditionOf, updateOf, type Where } from './expression.ts'
import { atKnownVersion, movedOn, versionMark } from './versions.ts'

/** Where an item is. */
export type Key = { pk: string; sk: string }
export type Schema<T> = z.ZodType<T>
/** What an item has beside its own fields: its key, its places in indexes, its end. */
export type Write = { key: Key; indexes?: Record<string, string>; ttl?: number }

export const attributesOf = ({ key, indexes = {}, ttl }: Write) => ({
  ...key,
  ...indexes,
  ttl,
  ...versionMark(key),
})

/** The part of an update that a request of its own and one in a transaction share. */
export const updateRequest = (key: Key, change: Change, where: Where) => {
  const collect = collector()
  const condition = conditionOf(atKnownVersion(key, where), collect)
  return {
    TableName: config('table'),
    Key: marshall(key),
    UpdateExpression: updateOf({ ...change, set: { ...change.set, ...versionMark(key) } }, collect),
    ConditionExpression: condition,
    ...collect.attributes(),
  }
}

/**
 * An item as its schema has it, moved on where it is of an earlier version. One that doesn't fit is
 * INTERNAL, naming fields and no values; one of a later version is VERSION_TOO_NEW.
 */
export const parse = <T>(schema: Schema<T>, item: Record<string, AttributeValue>): T => {
  const parsed = schema.safeParse(movedOn(item))
  if (parsed.success) return parsed.data
  const fields = parsed.error.issues.map(issue => issue.path.join('.')).join(', ')
  throw new AppError(
    'INTERNAL',
    `The item ${item.pk?.S} / ${item.sk?.S} has bad fields: ${fields}.`,
  )
}
