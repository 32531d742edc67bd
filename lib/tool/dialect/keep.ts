import { type Context, MAX_DEPTH, TOO_DEEP, within } from './context.ts'
import {
  isSchema,
  type JsonSchema,
  KNOWN,
  modern,
  type Schema,
  schemasByName,
  schemasIn,
} from './json-schema.ts'
import { define } from './lower.ts'
import { described, say } from './say.ts'

const ONE = new Set([
  ...['items', 'contains', 'propertyNames', 'not', 'if', 'then', 'else', 'contentSchema'],
  ...['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'],
])
const LISTS = new Set(['prefixItems', 'anyOf', 'oneOf', 'allOf'])
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas'])

/**
 * A schema as it is, for a dialect that takes the whole vocabulary: only what it refers to moves
 * into `$defs`, since the root that the references were from has changed, and what isn't a keyword
 * is left out.
 */
export const keep = (schema: Schema, context: Context): JsonSchema => {
  if (typeof schema === 'boolean') return schema ? {} : { not: {} }
  if (context.depth > MAX_DEPTH) return { description: TOO_DEEP }
  const inner = within(context)
  const current = modern(schema)
  const kept: JsonSchema = {}
  const sentences: string[] = []
  for (const [keyword, value] of Object.entries(current)) {
    if (keyword === '$ref' || keyword === '$dynamicRef') {
      const target = context.resolve(String(value))
      if (target) addReference(kept, `#/$defs/${define(target.pointer, context.definitions)}`)
      else sentences.push(...say({ $ref: value }))
    } else if (KNOWN.has(keyword)) {
      kept[keyword] = keepValue(keyword, value, inner)
    }
  }
  const description = described(kept.description, sentences)
  return description === undefined ? kept : { ...kept, description }
}

const addReference = (kept: JsonSchema, $ref: string): void => {
  if (kept.$ref === undefined) kept.$ref = $ref
  else kept.allOf = [...schemasIn(kept.allOf), { $ref }]
}

const keepValue = (keyword: string, value: unknown, context: Context): unknown => {
  if (ONE.has(keyword))
    return typeof value !== 'boolean' && isSchema(value) ? keep(value, context) : value
  if (LISTS.has(keyword)) return schemasIn(value).map(part => keep(part, context))
  if (!MAPS.has(keyword)) return value
  return Object.fromEntries(
    schemasByName(value).map(([name, part]) => [name, keep(part, context)] as const),
  )
}
