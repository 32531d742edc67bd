import {
  admits,
  isObject,
  JSON_TYPES,
  type JsonSchema,
  type JsonType,
  namesIn,
  schemasIn,
  typeOf,
} from './json-schema.ts'

/** Finds what a reference within a written schema names. */
export type Lookup = (schema: JsonSchema) => JsonSchema

const asIs: Lookup = schema => schema

/** The alternatives of a written schema, those of unions within unions too; itself if it is none. */
export const alternativesOf = (
  schema: JsonSchema,
  lookUp: Lookup = asIs,
  seen: readonly JsonSchema[] = [],
): JsonSchema[] => {
  const found = lookUp(schema)
  if (seen.includes(found) || !('anyOf' in found)) return [found]
  return schemasIn(found.anyOf)
    .filter(isObject)
    .flatMap(branch => alternativesOf(branch, lookUp, [...seen, found]))
}

/** Whether no value could be of two alternatives: by its type or by a property that says so. */
export const isDecidable = (schemas: JsonSchema[], lookUp: Lookup = asIs): boolean => {
  const alternatives = schemas.flatMap(schema => alternativesOf(schema, lookUp))
  const typed = alternatives.map(schema => ({ schema, types: writtenTypes(schema) }))
  if (typed.some(({ types }) => types === undefined)) return false
  return JSON_TYPES.every(type => {
    const same = typed.filter(({ types }) => types?.some(other => overlap(type, other)))
    if (same.length <= 1) return true
    const within = same.map(({ schema }) => schema)
    if (type === 'object') return discriminator(within) !== undefined
    return areDisjoint(within.map(({ enum: values }) => values))
  })
}

const overlap = (a: JsonType, b: JsonType): boolean =>
  a === b || (a === 'integer' && b === 'number') || (a === 'number' && b === 'integer')

/** The types that a written schema names; undefined where it names none. */
const writtenTypes = ({ type }: JsonSchema): JsonType[] | undefined =>
  type === undefined ? undefined : ([type].flat() as JsonType[])

/** Lists of values that share none; undefined lists may share any. */
const areDisjoint = (lists: unknown[]): boolean => {
  if (!lists.every(Array.isArray)) return false
  const values = lists.flat()
  return new Set(values).size === values.length && !values.some(isObject)
}

/** The property whose values tell objects apart: all of them require it, and no two share one. */
export const discriminator = (objects: JsonSchema[]): string | undefined => {
  const [first] = objects
  return namesIn(first?.required).find(name =>
    areDisjoint(
      objects.map(schema =>
        namesIn(schema.required).includes(name) ? valuesOf(schema, name) : undefined,
      ),
    ),
  )
}

const valuesOf = ({ properties }: JsonSchema, name: string): unknown => {
  const property = isObject(properties) && Object.hasOwn(properties, name) && properties[name]
  return isObject(property) ? property.enum : undefined
}

/** The alternative that a value is of; undefined where none or more than one could be meant. */
export const decide = (value: unknown, alternatives: JsonSchema[]): JsonSchema | undefined => {
  const fitting = alternatives.filter(schema =>
    writtenTypes(schema)?.some(type => admits(type, value)),
  )
  if (fitting.length <= 1 || typeOf(value) !== 'object') return fitting[0]
  const name = discriminator(fitting)
  if (name === undefined) return undefined
  const given = (value as JsonSchema)[name]
  return fitting.find(schema => (valuesOf(schema, name) as unknown[]).includes(given))
}
