import { AppError } from './errors.ts'

/**
 * How deep lists and objects may be nested. What reads a value afterwards (schemas, digests,
 * masking) calls itself for each level, and some thousands of them would end the stack.
 */
export const MAX_DEPTH = 100

/**
 * A JSON value with well-formed texts. Half of a surrogate pair (a model's `"\ud83d"`, an emoji cut
 * in two) can't be written as UTF-8: DynamoDB refuses the item, and a digest would change on the
 * way. It becomes U+FFFD, where values come in. VALIDATION_ERROR beyond MAX_DEPTH.
 */
export const wellFormed = <T>(value: T): T => walk(value, MAX_DEPTH) as T

const walk = (value: unknown, levels: number): unknown => {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0)
    throw new AppError(
      'VALIDATION_ERROR',
      `Lists and objects may be nested ${MAX_DEPTH} levels deep at most.`,
    )
  if (Array.isArray(value)) return value.map(item => walk(item, levels - 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), walk(item, levels - 1)]),
  )
}
