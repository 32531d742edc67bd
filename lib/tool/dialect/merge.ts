import {
  distinct,
  isObject,
  isSame,
  type JsonSchema,
  type JsonType,
  namesIn,
  type Schema,
  schemasByName,
} from './json-schema.ts'

/** One schema for two that must both hold, and what of the second has no place in it. */
export type Merged = { schema: JsonSchema; rest: JsonSchema[] }

/**
 * The schema of the values that match both. What both say of a part of the value stands there as
 * an `allOf` of its own, so that merging costs as much as the two schemas are wide, not deep.
 */
export const merge = (a: JsonSchema, b: JsonSchema): Merged => {
  const schema: JsonSchema = { ...a }
  const left: JsonSchema = {}
  for (const keyword of Object.keys(b)) {
    if (GROUPED.has(keyword)) continue
    if (!(keyword in a)) schema[keyword] = b[keyword]
    else if (!isSame(a[keyword], b[keyword])) {
      const combine = COMBINED[keyword]
      if (combine) schema[keyword] = combine(a[keyword], b[keyword])
      else if (!DROPPED.has(keyword)) left[keyword] = b[keyword]
    }
  }
  const rest = Object.keys(left).length > 0 ? [left] : []
  for (const [keywords, combine] of GROUPS) {
    const [own, other] = [a, b].map(from => within(from, keywords)) as [JsonSchema, JsonSchema]
    if (Object.keys(other).length === 0 || isSame(own, other)) continue
    const combined = Object.keys(own).length === 0 ? other : combine(own, other)
    if (combined) Object.assign(schema, combined)
    else rest.push(other)
  }
  return { schema, rest }
}

/** Both of two schemas: the same one where they are the same, `false` where one allows nothing. */
export const both = (a: Schema, b: Schema): Schema => {
  if (a === true || isSame(a, b)) return b
  if (b === true) return a
  return a === false || b === false ? false : { allOf: [a, b] }
}

const within = (schema: JsonSchema, keywords: string[]): JsonSchema =>
  Object.fromEntries(keywords.filter(word => word in schema).map(word => [word, schema[word]]))

type Combine = (a: unknown, b: unknown) => unknown
const least: Combine = (a, b) => Math.min(Number(a), Number(b))
const most: Combine = (a, b) => Math.max(Number(a), Number(b))

const COMBINED: Record<string, Combine> = {
  ...Object.fromEntries(
    ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'].map(word => [
      word,
      most,
    ]),
  ),
  ...Object.fromEntries(
    ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'].map(word => [
      word,
      least,
    ]),
  ),
  type: (a, b) => intersected(listed(a) as JsonType[], listed(b) as JsonType[]),
  enum: (a, b) => listed(a).filter(value => listed(b).some(other => isSame(value, other))),
  required: (a, b) => distinct([...namesIn(a), ...namesIn(b)]),
  uniqueItems: (a, b) => Boolean(a) || Boolean(b),
  description: (a, b) => `${a} ${b}`,
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value])

/** The types that both allow; every integer is a number. */
const intersected = (a: JsonType[], b: JsonType[]): JsonType[] =>
  distinct([
    ...a.filter(type => b.includes(type) || (type === 'integer' && b.includes('number'))),
    ...b.filter(type => type === 'integer' && a.includes('number')),
  ])

/** Of these the first is kept, since they constrain nothing. */
const DROPPED = new Set([
  ...['title', 'default', 'deprecated', 'examples', 'readOnly', 'writeOnly', '$comment'],
  ...['$defs', 'definitions', '$schema', '$id', '$anchor', '$dynamicAnchor'],
])

const OBJECT_GROUP = ['properties', 'patternProperties', 'additionalProperties']
const ARRAY_GROUP = ['prefixItems', 'items']

const mergeObjects = (a: JsonSchema, b: JsonSchema): JsonSchema | undefined => {
  const isOpen = ({ patternProperties, additionalProperties = true }: JsonSchema) =>
    patternProperties === undefined && additionalProperties === true
  if ((a.patternProperties && !isOpen(b)) || (b.patternProperties && !isOpen(a))) return undefined
  const own = new Map(schemasByName(a.properties))
  const others = new Map(schemasByName(b.properties))
  const names = distinct([...own.keys(), ...others.keys()])
  const additional = both(restOf(a), restOf(b))
  const isSaid = 'additionalProperties' in a || 'additionalProperties' in b
  const properties = names.map(
    name =>
      [
        name,
        both(own.get(name) ?? undeclared(a, name), others.get(name) ?? undeclared(b, name)),
      ] as const,
  )
  const patterns = a.patternProperties ?? b.patternProperties
  return {
    ...(names.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(patterns !== undefined && { patternProperties: patterns }),
    // Even where it allows anything it says that the others are known: see unevaluatedProperties.
    ...(isSaid && { additionalProperties: additional }),
  }
}

const restOf = ({ additionalProperties }: JsonSchema): Schema =>
  additionalProperties === false || isObject(additionalProperties) ? additionalProperties : true

/** What a schema says of a property that it does not declare. */
export const undeclared = (schema: JsonSchema, name: string): Schema => {
  const matching = schemasByName(schema.patternProperties).filter(([pattern]) =>
    matches(pattern, name),
  )
  if (matching.length === 0) return restOf(schema)
  return matching.map(([, of]) => of).reduce(both)
}

/** A pattern that is none matches nothing here; our own validation has the last word. */
const matches = (pattern: string, name: string): boolean => {
  try {
    return new RegExp(pattern, 'u').test(name)
  } catch {
    return false
  }
}

const mergeArrays = (a: JsonSchema, b: JsonSchema): JsonSchema | undefined =>
  'prefixItems' in a || 'prefixItems' in b
    ? undefined
    : { items: both(a.items as Schema, b.items as Schema) }

const mergeDependencies = (
  { dependentRequired: a }: JsonSchema,
  { dependentRequired: b }: JsonSchema,
) => {
  const own = a as JsonSchema
  const others = b as JsonSchema
  const names = distinct([...Object.keys(own), ...Object.keys(others)])
  const all = names.map(
    name => [name, distinct([...namesIn(own[name]), ...namesIn(others[name])])] as const,
  )
  return { dependentRequired: Object.fromEntries(all) }
}

const apart = (): undefined => undefined

/** Keywords that mean something only together. */
const GROUPS: [string[], (a: JsonSchema, b: JsonSchema) => JsonSchema | undefined][] = [
  [OBJECT_GROUP, mergeObjects],
  [ARRAY_GROUP, mergeArrays],
  [['dependentRequired'], mergeDependencies],
  [['if', 'then', 'else'], apart],
  [['contains', 'minContains', 'maxContains'], apart],
]
const GROUPED = new Set(GROUPS.flatMap(([keywords]) => keywords))
