import type * as z from 'zod'
import { wellFormed } from '../core/well-formed.ts'

type Values = Record<string, unknown>

/**
 * The values with each text that stands where only an object or a list may stand read as JSON,
 * where it is the JSON of one; the same values where there is no such text.
 */
export const unfold = (values: Values, issues: readonly z.core.$ZodIssue[]): Values =>
  issues.filter(wantsStructure).reduce((current, { path }) => {
    const text = path.reduce<unknown>(
      (value, key) => (value as Values | undefined)?.[key as string],
      current,
    )
    const structure = typeof text === 'string' ? structureOf(text) : undefined
    return structure === undefined ? current : (replaced(current, path, structure) as Values)
  }, values)

const STRUCTURES = ['object', 'array', 'tuple', 'record']

/** Whether nothing but an object or a list would do; a union with another form refused that, too. */
const wantsStructure = (issue: z.core.$ZodIssue): boolean => {
  if (issue.code === 'invalid_type') return STRUCTURES.includes(issue.expected)
  if (issue.code !== 'invalid_union') return false
  return issue.errors.flat().some(form => form.path.length === 0 && wantsStructure(form))
}

const structureOf = (text: string): object | undefined => {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return wellFormed(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** A copy with one value replaced: what the caller holds stays as it came. */
const replaced = (value: unknown, path: PropertyKey[], by: unknown): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return by
  const copy = Array.isArray(value) ? [...value] : { ...(value as Values) }
  return Object.assign(copy, { [key]: replaced((value as Values)[key as string], rest, by) })
}
