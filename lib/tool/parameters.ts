import * as z from 'zod'
import { canonicalJson } from '../core/canonical-json.ts'

type Schema = z.core.$ZodType

/** Kinds that hold nothing else; JSON has a form for each, and so have the schemas of models. */
const PLAIN = new Set([
  ...['string', 'number', 'boolean', 'null', 'enum', 'template_literal'],
  ...['any', 'unknown', 'never'],
])

/**
 * What is wrong with the schema of a parameter, or undefined. Arguments are parsed when they are
 * asked for and again before they run, so that a second parse must leave the first one's outcome
 * as it is: what a person approved is what runs. And all of it must have a form in JSON Schema,
 * which the schema's emission would find out in the middle of a task.
 */
export const schemaProblem = (schema: Schema, seen = new Set<Schema>()): string | undefined => {
  if (seen.has(schema)) return undefined
  seen.add(schema)
  const { def } = (schema as z.core.$ZodTypes)._zod
  const problemIn = (...parts: (Schema | null | undefined)[]): string | undefined => {
    for (const part of parts) {
      const problem = part && schemaProblem(part, seen)
      if (problem) return problem
    }
    return undefined
  }
  if (def.checks?.some(({ _zod }) => _zod.def.check === 'overwrite'))
    return changes('such as trim or toLowerCase')
  switch (def.type) {
    case 'object':
      return problemIn(...Object.values(def.shape), def.catchall)
    case 'array':
      return problemIn(def.element)
    case 'tuple':
      return problemIn(...def.items, def.rest)
    case 'record':
      return problemIn(def.keyType, def.valueType)
    case 'union':
      return problemIn(...def.options)
    case 'intersection':
      return 'is an intersection, whose parts would each drop what the other declares. Write one object: spread both shapes into it.'
    case 'optional':
    case 'nullable':
    case 'nonoptional':
    case 'readonly':
    case 'prefault':
      return problemIn(def.innerType)
    case 'default':
      return problemIn(def.innerType) ?? defaultProblem(def)
    case 'lazy':
      return problemIn(def.getter())
    case 'literal':
      return def.values.every(isJsonScalar) ? undefined : hasNoForm('literal of such a value')
    case 'transform':
    case 'pipe':
      return changes('by transform, pipe, preprocess or a codec')
    default:
      return PLAIN.has(def.type) ? undefined : hasNoForm(def.type)
  }
}

/** Zod puts a default in as it is; the second parse sees it as an argument like any other. */
const defaultProblem = ({ innerType, defaultValue }: z.core.$ZodDefaultDef): string | undefined => {
  const parsed = z.safeParse(innerType, defaultValue)
  if (parsed.success && canonicalJson(parsed.data) === canonicalJson(defaultValue)) return undefined
  return 'has a default that its own schema refuses or completes; write the whole value.'
}

const isJsonScalar = (value: unknown): boolean =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)

const changes = (how: string): string =>
  `changes what it is given (${how}), so that what runs is not what was approved. ` +
  'Check it here, with refine or regex, and change it in "execute".'

const hasNoForm = (kind: string): string =>
  `has a part that JSON has no form for (${kind}). Take a text or a number, and make of it what you need in "execute".`
