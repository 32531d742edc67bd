import * as z from 'zod'
import { AppError } from '../core/errors.ts'

/** A value that may be longer than an item can hold: in the item itself, or in the bucket. */
export const Large = z.union([
  z.strictObject({ inline: z.unknown() }),
  z.strictObject({ objectKey: z.string() }),
])
export type Large = z.infer<typeof Large>

/**
 * What stays in an item, in bytes of JSON. An item holds 400 KB at most, names and indexes
 * included, and ours hold up to three such values.
 */
export const MAX_INLINE_BYTES = 100 * 1024

/** Makes a value ready for an item; a long one goes to the bucket under `large/<name>`. */
export const storeLarge = async (name: string, value: unknown): Promise<Large> => {
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) <= MAX_INLINE_BYTES) return { inline: value }
  const objectKey = `large/${name}`
  const { putObject } = await objects()
  await putObject(objectKey, text, 'application/json')
  return { objectKey }
}

/** The value again, checked by its schema. */
export const loadLarge = async <T>(schema: z.ZodType<T>, large: Large): Promise<T> => {
  if ('inline' in large) return schema.parse(large.inline)
  const { getObject } = await objects()
  const bytes = await getObject(large.objectKey)
  if (!bytes) throw new AppError('INTERNAL', `The object ${large.objectKey} is missing.`)
  return schema.parse(JSON.parse(Buffer.from(bytes).toString()))
}

/** The S3 client is loaded with the first long value: most functions never meet one. */
const objects = () => import('./objects.ts')
