import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import * as z from 'zod'
import { AppError } from '../core/errors.ts'
import { PRIMARY_KEY } from './definition.ts'

/** A list that can be paged: the items under one key, or those of them with a prefix. */
export type List = { hashKey: string; rangeKey: string; pk: string; prefix: string }

/** DynamoDB's longest sort key, in bytes; what can't be a key at all, no page has ended at. */
const MAX_KEY_BYTES = 1_024
const Position = z.record(
  z.string(),
  z.string().refine(text => text.isWellFormed() && Buffer.byteLength(text) <= MAX_KEY_BYTES),
)

/** Where a page ended, opaque to callers. */
export const encodeCursor = (key: Record<string, AttributeValue>): string => {
  const position = Object.fromEntries(
    Object.entries(key).map(([name, value]) => [name, value.S ?? '']),
  )
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/**
 * The key that a cursor holds. One that is damaged or lies outside the list is BAD_REQUEST:
 * DynamoDB would refuse it with an error that blames nobody.
 */
export const decodeCursor = (text: string, list: List): Record<string, AttributeValue> => {
  const { data: position } = Position.safeParse(tryJson(Buffer.from(text, 'base64url').toString()))
  if (position && isWithin(position, list))
    return Object.fromEntries(Object.entries(position).map(([name, S]) => [name, { S }]))
  throw foreignCursor()
}

/** A place in a list that is not a query's: how far into `scope` a page came. */
export const encodePlace = (place: number, scope: string): string =>
  Buffer.from(JSON.stringify([scope, place])).toString('base64url')

/** The place that a cursor holds, or BAD_REQUEST where it is damaged or of another list. */
export const decodePlace = (text: string, scope: string): number => {
  const place = Place.safeParse(tryJson(Buffer.from(text, 'base64url').toString()))
  if (place.success && place.data[0] === scope) return place.data[1]
  throw foreignCursor()
}

const Place = z.tuple([z.string(), z.int().min(0)])

const foreignCursor = () =>
  new AppError('BAD_REQUEST', 'This cursor is not of this list. Leave it out to start anew.')

const isWithin = (
  position: Record<string, string>,
  { hashKey, rangeKey, pk, prefix }: List,
): boolean => {
  const names = new Set([...Object.values(PRIMARY_KEY), hashKey, rangeKey])
  return (
    Object.keys(position).length === names.size &&
    [...names].every(name => Object.hasOwn(position, name) && position[name] !== '') &&
    position[hashKey] === pk &&
    position[rangeKey]?.startsWith(prefix) === true
  )
}

const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
