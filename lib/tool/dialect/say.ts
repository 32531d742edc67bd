import { type JsonSchema, namesIn, schemasByName } from './json-schema.ts'

/** Of a schema or value that is told as JSON, in characters: what models read should stay short. */
export const MAX_TOLD_CHARS = 2000

/** A value as a model reads it in a sentence. */
export const told = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'null'
  return text.length <= MAX_TOLD_CHARS ? text : `${text.slice(0, MAX_TOLD_CHARS)}… (shortened)`
}

const plural = (count: unknown, noun: string, many = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : many}`

const list = (value: unknown): string =>
  Array.isArray(value) ? value.map(told).join(', ') : told(value)

const others = (value: unknown): string | string[] => {
  if (value === false) return 'No other properties.'
  return value === true ? [] : `Other properties must match ${told(value)}.`
}

const PHRASES: Record<string, (value: unknown, schema: JsonSchema) => string | string[]> = {
  format: value => `Format: ${value}.`,
  pattern: value => `Must match ${value}.`,
  minLength: value => `At least ${plural(value, 'character')}.`,
  maxLength: value => `At most ${plural(value, 'character')}.`,
  minimum: value => `At least ${value}.`,
  maximum: value => `At most ${value}.`,
  exclusiveMinimum: value => `Greater than ${value}.`,
  exclusiveMaximum: value => `Less than ${value}.`,
  multipleOf: value => `A multiple of ${value}.`,
  properties: value => `If an object, its properties: ${told(value)}.`,
  required: value => `Required: ${namesIn(value).join(', ')}.`,
  additionalProperties: others,
  unevaluatedProperties: others,
  patternProperties: value =>
    schemasByName(value).map(
      ([pattern, schema]) =>
        `Properties whose name matches ${pattern} ${schema === false ? 'are not allowed' : `must match ${told(schema)}`}.`,
    ),
  propertyNames: value => `Names of properties must match ${told(value)}.`,
  minProperties: value => `At least ${plural(value, 'property', 'properties')}.`,
  maxProperties: value => `At most ${plural(value, 'property', 'properties')}.`,
  dependentRequired: value =>
    Object.entries(value as JsonSchema)
      .filter(([, names]) => namesIn(names).length > 0)
      .map(([name, names]) => `With ${name}, also give ${namesIn(names).join(', ')}.`),
  dependentSchemas: value =>
    schemasByName(value).map(([name, schema]) => `With ${name}, it must match ${told(schema)}.`),
  items: value => `If a list, its items must match ${told(value)}.`,
  prefixItems: value => `The items in order: ${list(value)}.`,
  minItems: value => `At least ${plural(value, 'item')}.`,
  maxItems: value => `At most ${plural(value, 'item')}.`,
  uniqueItems: value => (value ? 'No item twice.' : []),
  unevaluatedItems: value => (value === true ? [] : `Other items must match ${told(value)}.`),
  contains: (value, { minContains, maxContains }) => {
    const least = minContains === undefined ? 1 : minContains
    const most = maxContains === undefined ? '' : ` and at most ${maxContains}`
    return `At least ${least}${most} of the items must match ${told(value)}.`
  },
  // Told with `contains`, without which they say nothing.
  minContains: () => [],
  maxContains: () => [],
  enum: value =>
    Array.isArray(value) && value.length === 1
      ? `Must be ${told(value[0])}.`
      : `Must be one of ${list(value)}.`,
  const: value => `Must be ${told(value)}.`,
  type: value => `Must be of type ${list(value)}.`,
  anyOf: value => `Must match one of ${list(value)}.`,
  oneOf: value => `Must match exactly one of ${list(value)}.`,
  allOf: value => `Must match all of ${list(value)}.`,
  not: value => `Must not match ${told(value)}.`,
  if: (value, { then, else: otherwise }) => [
    ...(then === undefined ? [] : [`If it matches ${told(value)}, it must match ${told(then)}.`]),
    ...(otherwise === undefined
      ? []
      : [`If it does not match ${told(value)}, it must match ${told(otherwise)}.`]),
  ],
  // Told with `if`, without which they say nothing.
  // biome-ignore lint/suspicious/noThenProperty: it is the name of a keyword
  then: () => [],
  else: () => [],
  $ref: value => `Must match the schema ${value}.`,
  $dynamicRef: value => `Must match the schema ${value}.`,
  default: value => `Default: ${told(value)}.`,
  deprecated: value => (value ? 'Deprecated.' : []),
  contentEncoding: value => `Encoded as ${value}.`,
  contentMediaType: value => `Content of type ${value}.`,
}

/** The keywords of a schema in plain sentences; a keyword that we don't know says nothing. */
export const say = (schema: JsonSchema, keywords = Object.keys(schema)): string[] =>
  keywords.flatMap(keyword => {
    const phrase = keyword in schema && Object.hasOwn(PHRASES, keyword) && PHRASES[keyword]
    return phrase ? phrase(schema[keyword], schema) : []
  })

export const SAYABLE = new Set(Object.keys(PHRASES))

/** A description with sentences after it; undefined where there is nothing to read. */
export const described = (description: unknown, sentences: string[]): string | undefined => {
  const own = typeof description === 'string' ? description.trim() : ''
  const parts = [
    own && sentences.length > 0 && !/[.!?:]$/.test(own) ? `${own}.` : own,
    ...sentences,
  ]
  return parts.filter(Boolean).join(' ') || undefined
}
