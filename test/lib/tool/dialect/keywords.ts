import { adapt, type Dialect, type JsonSchema } from '../../../../lib/tool/dialect/adapt.ts'

/** For each row of the table in docs/dialects.md, an argument in which the keyword says something. */
export const KEYWORDS: [keyword: string, argument: JsonSchema][] = [
  ['enum', { type: 'string', enum: ['x', 'y'] }],
  ['const', { const: 'x' }],
  ['type as a list', { type: ['string', 'null'] }],
  ['anyOf', { anyOf: [{ type: 'string' }, { type: 'boolean' }] }],
  ['oneOf', { oneOf: [{ type: 'string' }, { type: 'boolean' }] }],
  ['allOf', { allOf: [{ type: 'string' }, { enum: ['x'] }] }],
  ['not', { type: 'string', not: { const: 'x' } }],
  // biome-ignore lint/suspicious/noThenProperty: it is the name of a keyword
  ['if, then, else', { type: 'string', if: { const: 'x' }, then: { const: 'y' } }],
  ['$ref', { $ref: '#/$defs/Named' }],
  ['minLength, maxLength', { type: 'string', minLength: 2 }],
  ['pattern', { type: 'string', pattern: '^x' }],
  ['format: date-time', { type: 'string', format: 'date-time' }],
  ['format: email', { type: 'string', format: 'email' }],
  ['format: uri', { type: 'string', format: 'uri' }],
  ['minimum, maximum', { type: 'integer', minimum: 2 }],
  ['exclusive bounds of integers', { type: 'integer', exclusiveMinimum: 2 }],
  ['exclusive bounds of numbers', { type: 'number', exclusiveMinimum: 2 }],
  ['multipleOf', { type: 'number', multipleOf: 2 }],
  ['minItems, maxItems', { type: 'array', items: { type: 'string' }, minItems: 2 }],
  ['uniqueItems', { type: 'array', items: { type: 'string' }, uniqueItems: true }],
  [
    'prefixItems',
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'boolean' }], items: false },
  ],
  ['contains', { type: 'array', items: { type: 'string' }, contains: { const: 'x' } }],
  ['additionalProperties', { type: 'object', additionalProperties: { type: 'string' } }],
  ['patternProperties', { type: 'object', patternProperties: { '^x': { type: 'string' } } }],
  ['propertyNames', { type: 'object', propertyNames: { pattern: '^x' } }],
  ['minProperties, maxProperties', { type: 'object', minProperties: 2 }],
  ['dependentRequired', { type: 'object', dependentRequired: { a: ['b'] } }],
  ['default', { type: 'string', default: 'x' }],
]

/** What becomes of a keyword: it stays, becomes other words, or is told; or both of the latter. */
export const fateOf = (dialect: Dialect, argument: JsonSchema): string => {
  const root = {
    type: 'object',
    properties: { p: argument },
    required: ['p'],
    $defs: { Named: { type: 'string' } },
  }
  const { properties } = adapt(dialect, root).schema as { properties: { p: JsonSchema } }
  const { description, ...rest } = properties.p
  // Where silence would close an object, an open one says so.
  const { additionalProperties: open, ...others } = rest
  const words = open === true ? others : rest
  if (description === undefined && sameWords(words, argument)) return 'emitted'
  const bare = { type: argument.type }
  const list = { ...bare, items: { type: 'string' } }
  const isRewritten = !sameWords(words, bare) && !sameWords(words, list)
  const fates = [isRewritten && 'rewritten', description !== undefined && 'told']
  return fates.filter(Boolean).join(', ')
}

const sameWords = (a: JsonSchema, b: JsonSchema): boolean => sorted(a) === sorted(b)

const sorted = (schema: JsonSchema): string =>
  JSON.stringify(Object.entries(schema).sort(([one], [two]) => (one < two ? -1 : 1)))
