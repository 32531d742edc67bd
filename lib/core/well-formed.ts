/**
 * A JSON value with well-formed texts. Half of a surrogate pair (a model's `"\ud83d"`, an emoji cut
 * in two) can't be written as UTF-8: DynamoDB refuses the item, and a digest would change on the
 * way. It becomes U+FFFD, where values come in.
 */
export const wellFormed = <T>(value: T): T => walk(value) as T

const walk = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(walk)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), walk(item)]),
  )
}
