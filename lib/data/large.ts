import { createHash } from 'node:crypto'
import * as z from 'zod'
import { AppError } from '../core/errors.ts'
import { getObject, putObject } from './objects.ts'

/**
 * A value that may be longer than an item can hold: its JSON in the item itself, or in the bucket.
 * As text, any value that JSON has can be kept, also numbers and depths that DynamoDB refuses.
 */
export const Large = z.union([
  z.strictObject({ json: z.string() }),
  z.strictObject({ objectKey: z.string(), bytes: z.int() }),
])
export type Large = z.infer<typeof Large>

/**
 * What stays in an item, in bytes of JSON. An item holds 400 KB at most, names and indexes
 * included, and ours hold up to three such values.
 */
export const MAX_INLINE_BYTES = 100 * 1024

/** A short value, for an item: what the platform itself has to say. */
export const small = (value: unknown): Large => ({ json: JSON.stringify(value) })

/**
 * Makes a value ready for an item of `owner`; a long one goes to the bucket. Its object is named by
 * what is in it, so that whoever fails to write the item has not changed what the item says.
 */
export const storeLarge = async (owner: string, value: unknown): Promise<Large> => {
  const json = JSON.stringify(value)
  const bytes = Buffer.byteLength(json)
  if (bytes <= MAX_INLINE_BYTES) return { json }
  const objectKey = `large/${owner}/${createHash('sha256').update(json).digest('hex')}`
  await putObject(objectKey, json, 'application/json')
  return { objectKey, bytes }
}

/** The value again, checked by its schema. */
export const loadLarge = async <T>(schema: z.ZodType<T>, large: Large): Promise<T> => {
  if ('json' in large) return schema.parse(JSON.parse(large.json))
  const bytes = await getObject(large.objectKey)
  if (!bytes) throw new AppError('INTERNAL', `The object ${large.objectKey} is missing.`)
  return schema.parse(JSON.parse(Buffer.from(bytes).toString()))
}

/** How long a value is, in bytes of JSON, without loading it. */
export const bytesOf = (large: Large): number =>
  'json' in large ? Buffer.byteLength(large.json) : large.bytes
