import { type Context, within } from './context.ts'
import { isObject, type JsonSchema, namesIn, type Schema, schemasByName } from './json-schema.ts'
import { lowerEnum } from './lower-scalar.ts'
import { undeclared } from './merge.ts'
import { say } from './say.ts'

/** What no dialect with a subset has a word for. */
const TOLD = [
  ...['propertyNames', 'minProperties', 'maxProperties', 'dependentRequired', 'dependentSchemas'],
]

/** An object; what the dialect has no word for goes to the sentences. */
export const lowerObject = (node: JsonSchema, context: Context): JsonSchema | undefined => {
  const { table, sentences } = context
  const body: JsonSchema = { type: 'object' }
  if (!lowerEnum({ ...node, type: 'object' }, body, context)) return undefined
  const required = namesIn(node.required)
  const forbidden: string[] = []
  const properties: [string, JsonSchema][] = []
  for (const [name, schema] of declared(node, required)) {
    const property = context.write(schema, within(context))
    if (property) properties.push([name, property])
    else forbidden.push(name)
  }
  // What must be there and can't be leaves no valid object.
  if (required.some(name => forbidden.includes(name))) return undefined
  if (properties.length > 0) body.properties = Object.fromEntries(properties)
  if (required.length > 0) body.required = [...new Set(required)]
  const others = lowerOthers(node, context)
  if (others !== undefined) body.additionalProperties = others
  else if (table.isClosedUnlessSaid) body.additionalProperties = true
  if (forbidden.length > 0 && others !== false) sentences.push(`Leave out ${forbidden.join(', ')}.`)
  sentences.push(...say(node, TOLD))
  return body
}

/** All properties that are named, first the declared ones, then what is only required. */
const declared = (node: JsonSchema, required: string[]): [string, Schema][] => {
  const named = schemasByName(node.properties)
  const names = new Set(named.map(([name]) => name))
  const others = [...new Set(required)].filter(name => !names.has(name))
  return [...named, ...others.map((name): [string, Schema] => [name, undeclared(node, name)])]
}

/** What other properties may be there: `additionalProperties` as the dialect gets it. */
const lowerOthers = (node: JsonSchema, context: Context): JsonSchema | boolean | undefined => {
  const { sentences } = context
  const others = node.additionalProperties ?? closedByEvaluation(node, sentences)
  const patterns = schemasByName(node.patternProperties)
  if (patterns.length > 0) {
    sentences.push(...say(node, ['patternProperties']))
    const [[, only], ...more] = patterns as [[string, Schema]]
    if (others === false) sentences.push('No other properties.')
    if (others !== false || more.length > 0) {
      if (isObject(others)) sentences.push(...say({ additionalProperties: others }))
      return others === undefined ? undefined : true
    }
    return context.write(only, within(context, { isCopy: true })) ?? false
  }
  if (!isObject(others)) return others as boolean | undefined
  return context.write(others, within(context)) ?? false
}

/** Where nothing beside the properties is evaluated, both keywords say the same. */
const closedByEvaluation = (node: JsonSchema, sentences: string[]): Schema | undefined => {
  const { unevaluatedProperties: others } = node
  if (others === undefined || others === true) return undefined
  const isAlone = !['if', 'dependentSchemas'].some(keyword => keyword in node)
  if (isAlone && sentences.length === 0) return others as Schema
  sentences.push(...say({ unevaluatedProperties: others }))
  return undefined
}
