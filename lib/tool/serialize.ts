import { hasToJson } from '../core/canonical-json.ts'
import { AppError } from '../core/errors.ts'
import { MAX_DEPTH } from '../core/well-formed.ts'
import { bytesOf, hearFailure, isStream, readResponse, readStream } from './stream.ts'

/** What JSON can hold: what people see of a result, and what rows keep. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** Keeps bytes somewhere, and gives what stands in their place. A `File` has a name, too. */
export type KeepBytes = (bytes: Blob) => Promise<Json>

/** What a result may hold at most: characters and bytes in all, and values. */
export const MAX_RESULT_SIZE = 16 * 1024 * 1024
export const MAX_RESULT_VALUES = 1_000_000
/** A record has some levels of its own around a result's. */
export const MAX_RESULT_DEPTH = MAX_DEPTH - 4

/**
 * Any value as JSON, by one table; undefined where there is nothing to say.
 *
 * | value | becomes |
 * |---|---|
 * | text, boolean, finite number | itself |
 * | other number, bigint, RegExp, Date | its text (a Date's in ISO 8601) |
 * | undefined, function, symbol | nothing; null within a list |
 * | what has a `toJSON` | what that gives |
 * | Error | its name, message, cause and own fields, never its stack |
 * | Map | an object where all keys are texts or numbers, else a list of pairs |
 * | Set, generator, any other iterable | a list |
 * | Buffer, Uint8Array, ArrayBuffer, DataView, Blob, File | what `keepBytes` gives |
 * | other typed array | a list of its numbers |
 * | stream, async iterable | its texts as one text, its bytes kept as one, else a list |
 * | Response | its body: JSON, text or bytes by its type; with its status if that is no success |
 * | Promise | what it resolves to |
 * | what contains itself | a text that says so |
 * | other object | its own enumerable fields |
 *
 * Throws PAYLOAD_TOO_LARGE past MAX_RESULT_SIZE or MAX_RESULT_VALUES, and whatever a getter, a
 * `toJSON`, a promise or a stream throws.
 */
export const serialize = async (
  value: unknown,
  keepBytes: KeepBytes,
): Promise<Json | undefined> => {
  const walk: Walk = { later: [], size: 0, values: 0, keepBytes }
  const root: { json?: Json | undefined } = {}
  const place = { depth: 0, put: (json: Json | undefined) => Object.assign(root, { json }) }
  place.put(toJson(value, place, walk))
  // What is read later may hold more of it.
  for (const read of walk.later) await read()
  return root.json
}

type Walk = {
  /** What can't be had at once: promises, streams, bytes to keep. */
  later: (() => Promise<void>)[]
  size: number
  values: number
  keepBytes: KeepBytes
}

/** Where a value stands: within what, how deep, and how to put something there later. */
type Place = {
  within?: Place & { value: object }
  depth: number
  put: (json: Json | undefined) => unknown
}

const toJson = (value: unknown, place: Place, walk: Walk): Json | undefined => {
  if (++walk.values > MAX_RESULT_VALUES) throw tooLarge(`more than ${MAX_RESULT_VALUES} values`)
  switch (typeof value) {
    case 'string':
      count(walk, value.length)
      return value
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'bigint':
      return String(value)
    case 'object':
      return value === null ? null : objectToJson(value, place, walk)
    default:
      return undefined
  }
}

const objectToJson = (value: object, place: Place, walk: Walk): Json | undefined => {
  if (contains(place.within, value)) return '[contains itself]'
  if (place.depth === MAX_RESULT_DEPTH) return '[nested too deeply]'
  const within = { ...place, value }
  const inner = (item: unknown, put: Place['put']) =>
    toJson(item, { within, depth: place.depth + 1, put }, walk)
  /** Leaves a gap, to be filled with what `read` gives. */
  const later = (read: () => Promise<unknown> | unknown): null => {
    walk.later.push(async () => {
      place.put(inner(await read(), place.put))
    })
    return null
  }
  const list = (items: Iterable<unknown>): Json[] => {
    const json: Json[] = []
    for (const item of items) {
      const index = json.length
      json.push(inner(item, later => (json[index] = later ?? null)) ?? null)
    }
    return json
  }
  const fields = (entries: Iterable<[unknown, unknown]>): Json => {
    const json: Record<string, Json> = {}
    for (const [name, item] of entries) {
      const key = String(name)
      count(walk, key.length)
      const put = (field: Json | undefined) => define(json, key, field)
      put(inner(item, put))
    }
    return json
  }

  const bytes = bytesOf(value)
  if (bytes) {
    count(walk, bytes.size)
    return later(() => walk.keepBytes(bytes))
  }
  if (value instanceof Response) return later(() => readResponse(value, MAX_RESULT_SIZE))
  if (isStream(value)) {
    hearFailure(value)
    return later(() => readStream(value, MAX_RESULT_SIZE))
  }
  if (isThenable(value)) {
    const promise = Promise.resolve(value)
    // It is awaited in its turn: one that fails before, heard by nobody, would end the process.
    promise.catch(() => {})
    return later(() => promise)
  }
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? String(value) : value.toISOString()
  if (hasToJson(value)) return inner(value.toJSON(), place.put)
  if (value instanceof Error) return fields(errorFields(value))
  if (value instanceof RegExp) return String(value)
  if (value instanceof Map) {
    const isRecord = [...value.keys()].every(key => ['string', 'number'].includes(typeof key))
    return isRecord ? fields(value) : list(value)
  }
  if (isBoxed(value)) return inner(value.valueOf(), place.put)
  if (Symbol.iterator in value) return list(value as Iterable<unknown>)
  return fields(Object.entries(value))
}

/** Undefined fields are left out; a field may be called `__proto__`. */
const define = (json: Record<string, Json>, key: string, value: Json | undefined): void => {
  if (value === undefined) delete json[key]
  else
    Object.defineProperty(json, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
}

const errorFields = (error: Error): [string, unknown][] => {
  const { name, message, cause } = error
  const errors = error instanceof AggregateError ? error.errors : undefined
  return [...Object.entries({ name, message, cause, errors }), ...Object.entries(error)]
}

const contains = (place: Place['within'], value: object): boolean =>
  place !== undefined && (place.value === value || contains(place.within, value))

const isThenable = (value: object): value is PromiseLike<unknown> =>
  'then' in value && typeof value.then === 'function'

const isBoxed = (value: object): boolean =>
  value instanceof String ||
  value instanceof Number ||
  value instanceof Boolean ||
  value instanceof BigInt ||
  value instanceof Symbol

const count = (walk: Walk, size: number): void => {
  walk.size += size
  if (walk.size > MAX_RESULT_SIZE)
    throw tooLarge(`more than ${MAX_RESULT_SIZE} characters or bytes`)
}

const tooLarge = (what: string): AppError =>
  new AppError('PAYLOAD_TOO_LARGE', `The result has ${what}; ask for less, or for a part of it.`)
