import { alternativesOf, decide, isDecidable, type Lookup } from './decide.ts'
import { isObject, type JsonSchema, namesIn, schemasByName } from './json-schema.ts'
import { isWithinLimits } from './strict-limits.ts'

export type Strict = {
  schema: JsonSchema
  toWire: (values: JsonSchema) => JsonSchema
  fromWire: (values: JsonSchema) => JsonSchema
}

/**
 * A schema within OpenAI's strict subset, from one that its dialect has written: every property
 * required, an optional one nullable, `null` meaning that it is absent. Undefined where that would
 * lose something: an object that is open, a value of any kind, an optional property that may be
 * null by itself, alternatives that a value can't be told apart by, or a schema beyond the limits.
 */
export const strictOf = (root: JsonSchema): Strict | undefined => {
  const definitions = isObject(root.$defs) ? root.$defs : {}
  const lookUp: Lookup = schema => {
    const name = typeof schema.$ref === 'string' ? schema.$ref.replace('#/$defs/', '') : undefined
    const found = name !== undefined && Object.hasOwn(definitions, name) && definitions[name]
    return isObject(found) ? found : schema
  }
  const parts = Object.entries(definitions) as [string, JsonSchema][]
  const written = parts.map(([name, schema]) => [name, strictPart(schema, lookUp)] as const)
  const { $defs: _, ...own } = root
  const body = strictPart(own, lookUp)
  if (!body || written.some(([, schema]) => !schema)) return undefined
  const schema = { ...body, ...(parts.length > 0 && { $defs: Object.fromEntries(written) }) }
  if (!isWithinLimits(schema)) return undefined
  return {
    schema,
    toWire: values => convert(values, own, { lookUp, leaf: withNulls }) as JsonSchema,
    fromWire: values => convert(values, own, { lookUp, leaf: withoutNulls }) as JsonSchema,
  }
}

const strictPart = (schema: JsonSchema, lookUp: Lookup): JsonSchema | undefined => {
  if ('$ref' in schema) return schema
  if (Array.isArray(schema.anyOf)) return strictUnion(schema, lookUp)
  switch (schema.type) {
    case undefined:
      return undefined
    case 'object':
      return strictObject(schema, lookUp)
    case 'array': {
      const items = isObject(schema.items) ? strictPart(schema.items, lookUp) : undefined
      return items && { ...schema, items }
    }
    default:
      return schema
  }
}

const strictUnion = (schema: JsonSchema, lookUp: Lookup): JsonSchema | undefined => {
  const branches = schema.anyOf as JsonSchema[]
  const written = branches.map(branch => strictPart(branch, lookUp))
  if (!written.every(Boolean)) return undefined
  const nested = branches
    .flatMap(branch => alternativesOf(branch, lookUp))
    .filter(({ type }) => type === 'object' || type === 'array')
  const isTold = isDecidable(nested) || !nested.some(branch => hasOptional(branch, lookUp))
  return isTold ? { ...schema, anyOf: written } : undefined
}

const strictObject = (schema: JsonSchema, lookUp: Lookup): JsonSchema | undefined => {
  if (schema.additionalProperties !== false) return undefined
  const required = namesIn(schema.required)
  const properties: [string, JsonSchema][] = []
  for (const [name, property] of schemasByName(schema.properties) as [string, JsonSchema][]) {
    const isOptional = !required.includes(name)
    const strict = strictPart(property, lookUp)
    if (!strict || (isOptional && admitsNull(property, lookUp))) return undefined
    properties.push([name, isOptional ? nullable(strict) : strict])
  }
  const { properties: _, required: __, additionalProperties: ___, ...others } = schema
  return {
    ...others,
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  }
}

const nullable = (schema: JsonSchema): JsonSchema => {
  const { description, ...rest } = schema
  if (Array.isArray(rest.anyOf)) return { ...schema, anyOf: [...rest.anyOf, { type: 'null' }] }
  const isPlain = typeof rest.type === 'string' && !['object', 'array'].includes(rest.type)
  if (isPlain && !('enum' in rest)) return { ...schema, type: [rest.type, 'null'] }
  return {
    ...(description !== undefined && { description }),
    anyOf: [rest, { type: 'null' }],
  }
}

const admitsNull = (schema: JsonSchema, lookUp: Lookup): boolean =>
  alternativesOf(schema, lookUp).some(
    ({ type }) => type === undefined || [type].flat().includes('null'),
  )

/** Whether an object within has an optional property, so that it looks otherwise on the wire. */
const hasOptional = (schema: JsonSchema, lookUp: Lookup): boolean => {
  const seen = new Set<JsonSchema>()
  const open = [schema]
  for (let next = open.pop(); next; next = open.pop()) {
    const found = lookUp(next)
    if (seen.has(found)) continue
    seen.add(found)
    const properties = schemasByName(found.properties) as [string, JsonSchema][]
    if (properties.length > namesIn(found.required).length) return true
    open.push(...properties.map(([, property]) => property))
    if (isObject(found.items)) open.push(found.items)
    if (Array.isArray(found.anyOf)) open.push(...found.anyOf)
  }
  return false
}

type Leaf = (values: JsonSchema, optional: string[]) => JsonSchema

const withNulls: Leaf = (values, optional) => {
  const absent = optional.filter(name => !Object.hasOwn(values, name))
  return { ...values, ...Object.fromEntries(absent.map(name => [name, null])) }
}

const withoutNulls: Leaf = (values, optional) =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value !== null || !optional.includes(name)),
  )

/** Goes through a value by the schema that its objects have; what is of no alternative stays. */
const convert = (
  value: unknown,
  schema: JsonSchema,
  { lookUp, leaf }: { lookUp: Lookup; leaf: Leaf },
): unknown => {
  if (typeof value !== 'object' || value === null) return value
  const found = decide(value, alternativesOf(schema, lookUp))
  if (!found) return value
  const inner = (part: unknown, of: unknown) =>
    isObject(of) ? convert(part, of, { lookUp, leaf }) : part
  if (Array.isArray(value)) return value.map(item => inner(item, found.items))
  const properties = new Map(schemasByName(found.properties))
  const required = new Set(namesIn(found.required))
  const optional = [...properties.keys()].filter(name => !required.has(name))
  const values = Object.entries(value).map(
    ([name, part]) => [name, inner(part, properties.get(name))] as const,
  )
  return leaf(Object.fromEntries(values), optional)
}
