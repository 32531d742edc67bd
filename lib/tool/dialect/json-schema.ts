/** A JSON Schema (2020-12) that is not a boolean; also the form in which values of JSON are held. */
export type JsonSchema = Record<string, unknown>
export type Schema = JsonSchema | boolean

export const JSON_TYPES = [
  'string',
  'number',
  'integer',
  'boolean',
  'null',
  'object',
  'array',
] as const
export type JsonType = (typeof JSON_TYPES)[number]

/** The keywords that constrain values of one type, in the order in which they are read out. */
export const KEYWORDS_OF_TYPE: Record<'string' | 'number' | 'object' | 'array', string[]> = {
  string: ['format', 'pattern', 'minLength', 'maxLength'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  object: [
    ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
    ...['minProperties', 'maxProperties', 'dependentRequired', 'dependentSchemas'],
    'unevaluatedProperties',
  ],
  array: [
    ...['prefixItems', 'items', 'minItems', 'maxItems', 'uniqueItems', 'unevaluatedItems'],
    ...['contains', 'minContains', 'maxContains'],
  ],
}

/** The keywords that constrain values of any type. */
export const GENERAL_KEYWORDS = [
  ...['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not'],
  ...['if', 'then', 'else', '$ref', '$dynamicRef'],
]

/** What constrains nothing; some of it is worth telling. */
export const ANNOTATIONS = [
  ...['title', 'description', 'default', 'deprecated', 'examples', 'readOnly', 'writeOnly'],
  ...['contentEncoding', 'contentMediaType', 'contentSchema', '$comment'],
]

const CONSTRAINTS = new Set([...GENERAL_KEYWORDS, ...Object.values(KEYWORDS_OF_TYPE).flat()])

/** All keywords that we read; others constrain nothing. */
export const KNOWN: ReadonlySet<string> = new Set([...CONSTRAINTS, ...ANNOTATIONS])

/** A schema's keywords that constrain something; what is unknown constrains nothing. */
export const constraintsOf = (schema: JsonSchema): JsonSchema => pick(schema, CONSTRAINTS)

export const pick = (schema: JsonSchema, keywords: ReadonlySet<string>): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => keywords.has(keyword)))

export const omit = (schema: JsonSchema, ...keywords: string[]): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)))

export const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'boolean' || isObject(value)

/** The schemas of a keyword like `anyOf`; none where it is not a list. */
export const schemasIn = (value: unknown): Schema[] =>
  Array.isArray(value) ? value.filter(isSchema) : []

/** The schemas of a keyword like `properties`, by name. */
export const schemasByName = (value: unknown): [string, Schema][] =>
  isObject(value)
    ? Object.entries(value).filter((entry): entry is [string, Schema] => isSchema(entry[1]))
    : []

export const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter(name => typeof name === 'string') : []

/** The type of a value, with every whole number an integer, as JSON Schema has it. */
export const typeOf = (value: unknown): JsonType => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value as 'string' | 'boolean' | 'object'
}

export const admits = (type: JsonType, value: unknown): boolean => {
  const actual = typeOf(value)
  return type === actual || (type === 'number' && actual === 'integer')
}

/** JSON with its keys in order, so that equal values have equal texts. */
export const canonicalText = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    isObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  ) ?? 'null'

export const isSame = (a: unknown, b: unknown): boolean =>
  a === b || canonicalText(a) === canonicalText(b)

/** The values without repeats, the first of equal ones kept. */
export const distinct = <Value>(values: readonly Value[]): Value[] =>
  [
    ...new Map(values.map(value => [canonicalText(value), value] as const).reverse()).values(),
  ].reverse()

/**
 * A schema of an older draft, as imported tools still send them, in the words of 2020-12: a list
 * of `items` is a tuple, `dependencies` are two keywords, and an exclusive bound may be a flag.
 */
export const modern = (schema: JsonSchema): JsonSchema => {
  const isOld =
    Array.isArray(schema.items) ||
    'dependencies' in schema ||
    typeof schema.exclusiveMinimum === 'boolean' ||
    typeof schema.exclusiveMaximum === 'boolean'
  if (!isOld) return schema
  const { dependencies, additionalItems, ...kept } = schema
  if (Array.isArray(kept.items)) {
    kept.prefixItems = kept.items
    if (additionalItems === undefined) delete kept.items
    else kept.items = additionalItems
  }
  if (isObject(dependencies)) {
    const entries = Object.entries(dependencies)
    kept.dependentRequired = Object.fromEntries(entries.filter(([, is]) => Array.isArray(is)))
    kept.dependentSchemas = Object.fromEntries(entries.filter(([, is]) => isSchema(is)))
  }
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof kept[flag] !== 'boolean') continue
    const isExclusive = kept[flag] && typeof kept[bound] === 'number'
    if (isExclusive) kept[flag] = kept[bound]
    else delete kept[flag]
    if (isExclusive) delete kept[bound]
  }
  return kept
}
