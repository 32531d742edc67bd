import * as z from 'zod'
import { canonicalJson } from '../core/canonical-json.ts'

type Schema = z.core.$ZodType

/** Kinds that hold nothing else; JSON has a form for each, and so have the schemas of models. */
const PLAIN = new Set([
  ...['string', 'number', 'boolean', 'null', 'template_literal', 'any', 'unknown'],
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
  if (hasOverwrite(def)) return changes('such as trim or toLowerCase')
  if ('coerce' in def && def.coerce) return changes('by z.coerce, to which "false" is true')
  const flags = flagsWithin(def)
  if (flags !== '')
    return `has a regular expression with the flag "${flags}", which JSON Schema has none of. Write it without: [a-zA-Z] for both cases.`
  switch (def.type) {
    case 'object':
      return problemIn(...Object.values(def.shape), openCatchall(def))
    case 'array':
      return problemIn(def.element)
    case 'tuple':
      return problemIn(...def.items, def.rest)
    case 'record':
      return problemIn(def.keyType, def.valueType)
    case 'union':
      return def.options.length > 0 ? problemIn(...def.options) : NOTHING_VALID
    case 'enum':
      return Object.keys(def.entries).length > 0 ? undefined : NOTHING_VALID
    case 'never':
      return NOTHING_VALID
    case 'intersection':
      return 'is an intersection, whose parts would each drop what the other declares. Write one object: spread both shapes into it.'
    case 'optional':
    case 'nullable':
    case 'nonoptional':
    case 'readonly':
      return problemIn(def.innerType)
    case 'prefault':
      return problemIn(def.innerType) ?? unsteadyProblem(def)
    case 'default':
      return problemIn(def.innerType) ?? unsteadyProblem(def) ?? defaultProblem(def)
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

/**
 * What is wrong with an operation's parameters as a whole, beyond what is wrong with each, as the end
 * of a sentence about them; or undefined.
 */
export const parametersProblem = ({ def }: z.ZodObject): string | undefined => {
  if (hasOverwrite(def)) return `must not be changed as a whole. ${MAKE_OF_IT}`
  if (!openCatchall(def)) return undefined
  return 'must all be declared, since models see them all in one closed schema. Put what has no fixed name into one parameter, as a z.record.'
}

/** What properties may be that are not declared; undefined where there may be none. */
const openCatchall = ({ catchall }: z.core.$ZodObjectDef): Schema | undefined =>
  catchall?._zod.def.type === 'never' ? undefined : catchall

const hasOverwrite = ({ checks = [] }: { checks?: z.core.$ZodCheck<never>[] }): boolean =>
  checks.some(({ _zod }) => _zod.def.check === 'overwrite')

/** The flags of patterns that change what they match: emission leaves all flags out. */
const flagsWithin = (def: z.core.$ZodTypeDef): string =>
  [def, ...(def.checks ?? []).map(({ _zod }) => _zod.def)]
    .map(part => ('pattern' in part && part.pattern instanceof RegExp ? part.pattern.flags : ''))
    .join('')
    .replaceAll(/[^imsy]/g, '')

/** A value that is made anew each time would give each process a declaration of its own. */
const unsteadyProblem = (def: z.core.$ZodDefaultDef | z.core.$ZodPrefaultDef) => {
  const { defaultValue } = def
  const { defaultValue: again } = def
  return canonicalJson(defaultValue) === canonicalJson(again)
    ? undefined
    : 'has a default that is another one each time. Make it optional, and choose in "execute".'
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
  `changes what it is given (${how}), so that what runs is not what was approved. ${MAKE_OF_IT}`

const MAKE_OF_IT = 'Check it here, with refine or regex, and change it in "execute".'

const NOTHING_VALID =
  'has a part for which no value is valid (never, or a choice of nothing), so that no model could be offered it. Leave it out.'

const hasNoForm = (kind: string): string =>
  `has a part that JSON has no form for (${kind}). Take a text or a number, and make of it what you need in "execute".`
