import type * as z from 'zod'
import { wellFormed } from '../core/well-formed.ts'

type Values = Record<string, unknown>

/**
 * The values with each text that stands where only an object or a list may stand read as JSON,
 * where it is the JSON of one; the same values where there is no such text. What the caller holds
 * stays as it came: what is changed is copied, once, however much of it changes.
 */
export const unfold = (values: Values, issues: readonly z.core.$ZodIssue[]): Values => {
  const copies = new Map<object, object>()
  const copyOf = (value: object): Values => {
    const copy = copies.get(value) ?? (Array.isArray(value) ? [...value] : { ...value })
    copies.set(value, copy).set(copy, copy)
    return copy as Values
  }
  for (const { path } of issues.filter(wantsStructure)) {
    const structure = structureOf(at(values, path))
    const last = path.at(-1)
    if (!structure || last === undefined) continue
    let place = copyOf(values)
    for (const key of path.slice(0, -1)) {
      const inner = copyOf(place[key as string] as object)
      define(place, key, inner)
      place = inner
    }
    define(place, last, structure)
  }
  return (copies.get(values) ?? values) as Values
}

const at = (values: Values, path: PropertyKey[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Values | undefined)?.[key as string], values)

/** A field may be called `__proto__`. */
const define = (place: Values, key: PropertyKey, value: object): void => {
  Object.defineProperty(place, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

const STRUCTURES = ['object', 'array', 'tuple', 'record']

/** Whether nothing but an object or a list would do; a union with another form refused that, too. */
const wantsStructure = (issue: z.core.$ZodIssue): boolean => {
  if (issue.code === 'invalid_type') return STRUCTURES.includes(issue.expected)
  if (issue.code !== 'invalid_union') return false
  return issue.errors.flat().some(form => form.path.length === 0 && wantsStructure(form))
}

const structureOf = (text: unknown): object | undefined => {
  if (typeof text !== 'string' || !/^\s*[[{]/.test(text)) return undefined
  try {
    return wellFormed(JSON.parse(text))
  } catch {
    return undefined
  }
}
