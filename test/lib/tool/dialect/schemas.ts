import fc from 'fast-check'
import type { JsonSchema } from '../../../../lib/tool/dialect/adapt.ts'

export type Schema = JsonSchema | boolean

/** Names of properties; some are not what every provider takes. */
const NAMES = ['a', 'b', 'c', 'kind', 'd e', 'f[0]', 'x-y', '$top', '9lives', 'd_e', 'constructor']
export const PATTERNS = ['^x', '^[a-c]{2,4}$', '^(?!z)[a-z]+$', '\\d$']
export const FORMATS = ['date', 'date-time', 'email', 'uuid', 'ipv4', 'uri', 'hostname']

const name = fc.constantFrom(...NAMES)
const small = fc.nat({ max: 4 })
const scalar = fc.constantFrom<unknown[]>('x', 'yy', 'abc', 1, 2.5, -3, true, false, null)
const maybe = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: undefined, freq: 2 })

/** Only what is there: an absent keyword is not one with the value undefined. */
const schemaOf = (keywords: Record<string, fc.Arbitrary<unknown>>, fixed: JsonSchema = {}) =>
  fc.record(keywords).map(
    (schema): JsonSchema => ({
      ...fixed,
      ...Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined)),
    }),
  )

const annotations = {
  description: maybe(fc.constantFrom('What it is.', 'A thing')),
  title: maybe(fc.constant('Title')),
  'x-own': maybe(fc.constant(1)),
  deprecated: maybe(fc.constant(true)),
}

const text = schemaOf(
  {
    minLength: maybe(small),
    maxLength: maybe(small.map(length => length + 4)),
    pattern: maybe(fc.constantFrom(...PATTERNS)),
    format: maybe(fc.constantFrom(...FORMATS)),
    default: maybe(fc.constant('dd')),
    ...annotations,
  },
  { type: 'string' },
)
const number = fc.constantFrom('number', 'integer').chain(type =>
  schemaOf(
    {
      minimum: maybe(fc.constantFrom(-5, 0, 1.5)),
      maximum: maybe(fc.constantFrom(7, 10, 9.5)),
      exclusiveMinimum: maybe(fc.constantFrom(-4, 0, 0.5)),
      exclusiveMaximum: maybe(fc.constantFrom(8, 11, 7.5)),
      multipleOf: maybe(fc.constantFrom(1, 2, 0.5)),
      ...annotations,
    },
    { type },
  ),
)
const values = fc.oneof(
  fc
    .uniqueArray(scalar, { minLength: 1, maxLength: 4 })
    .map((list): JsonSchema => ({ enum: list })),
  scalar.map((value): JsonSchema => ({ const: value })),
  fc.constant<JsonSchema>({ enum: ['x', 'yy'], type: 'string' }),
  fc.constant<JsonSchema>({ const: { a: 1 } }),
  fc.constant<JsonSchema>({ type: ['string', 'null'], enum: ['x', null] }),
  fc.constant<JsonSchema>({ type: 'boolean', const: true }),
)
const plain = fc.oneof(
  text,
  number,
  values,
  schemaOf(annotations, { type: 'boolean' }),
  schemaOf(annotations, { type: ['string', 'integer', 'null'], minLength: 2, minimum: 3 }),
  schemaOf(annotations, { type: ['number', 'null'], exclusiveMinimum: 0 }),
  fc.constant<JsonSchema>({ type: 'null' }),
  fc.constant<JsonSchema>({}),
)

export const DEFINITIONS = ['Leaf', 'Tree', 'Pair/1']
const definitionReference = fc
  .constantFrom(...DEFINITIONS)
  .map((definition): JsonSchema => ({ $ref: `#/$defs/${definition.replace('/', '~1')}` }))

/**
 * Schemas of all keywords. A place below a property or an item (`child`) may refer to anything; a
 * place that speaks of the same value (`inPlace`) may not refer to what it is part of, which no
 * validator would ever come back from.
 */
const { child, inPlace, structure, object } = fc.letrec<{
  child: Schema
  inPlace: Schema
  structure: JsonSchema
  object: JsonSchema
  array: JsonSchema
  combination: JsonSchema
}>(tie => ({
  child: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'schema' },
    { arbitrary: plain, weight: 6 },
    { arbitrary: fc.boolean(), weight: 1 },
    { arbitrary: tie('structure'), weight: 4 },
    { arbitrary: tie('combination'), weight: 3 },
    { arbitrary: definitionReference, weight: 2 },
    { arbitrary: schemaOf(annotations, { $ref: '#' }), weight: 1 },
    { arbitrary: schemaOf(annotations, { $ref: '#/$defs/Tree', minProperties: 1 }), weight: 1 },
  ),
  inPlace: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'schema' },
    { arbitrary: plain, weight: 4 },
    { arbitrary: tie('structure'), weight: 4 },
    { arbitrary: definitionReference, weight: 1 },
    { arbitrary: tie('combination'), weight: 1 },
  ),
  structure: fc.oneof(
    { depthIdentifier: 'schema' },
    { arbitrary: tie('object'), weight: 3 },
    { arbitrary: tie('array'), weight: 2 },
  ),
  object: schemaOf({
    type: fc.constantFrom('object', 'object', ['object', 'null']),
    properties: fc.dictionary(name, tie('child'), { maxKeys: 4 }),
    required: maybe(fc.uniqueArray(name, { maxLength: 2 })),
    additionalProperties: fc.oneof(fc.constantFrom(undefined, false, false, true), tie('child')),
    patternProperties: maybe(
      fc.dictionary(fc.constantFrom('^p_', '1$'), tie('child'), { maxKeys: 2 }),
    ),
    propertyNames: maybe(fc.constantFrom({ maxLength: 9 }, { pattern: '^[^!]*$' })),
    minProperties: maybe(fc.nat({ max: 2 })),
    maxProperties: maybe(fc.constantFrom(3, 5)),
    dependentRequired: maybe(
      fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 1 }),
    ),
    dependentSchemas: maybe(fc.constantFrom({ a: { required: ['b'] } })),
    unevaluatedProperties: maybe(fc.constantFrom(false, true)),
    default: maybe(fc.constant({})),
    ...annotations,
  }),
  array: schemaOf(
    {
      items: fc.oneof(fc.constant(undefined), tie('child')),
      prefixItems: maybe(fc.array(tie('child'), { minLength: 1, maxLength: 2 })),
      minItems: maybe(fc.nat({ max: 2 })),
      maxItems: maybe(fc.constantFrom(2, 3)),
      uniqueItems: maybe(fc.boolean()),
      contains: maybe(fc.constantFrom({ type: 'string' }, {})),
      minContains: maybe(fc.constantFrom(0, 1)),
      unevaluatedItems: maybe(fc.constant(false)),
      ...annotations,
    },
    { type: 'array' },
  ),
  combination: fc.oneof(
    { depthIdentifier: 'schema' },
    schemaOf({
      anyOf: fc.array(tie('inPlace'), { minLength: 1, maxLength: 3 }),
      ...annotations,
    }),
    schemaOf({ oneOf: fc.array(tie('inPlace'), { minLength: 1, maxLength: 3 }) }),
    tie('inPlace').map((schema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })),
    schemaOf({ allOf: fc.array(tie('inPlace'), { minLength: 1, maxLength: 3 }), ...annotations }),
    fc
      .tuple(tie('object'), fc.array(tie('object'), { minLength: 1, maxLength: 2 }))
      .map(([base, anyOf]): JsonSchema => ({ ...base, anyOf })),
    fc.tuple(tie('structure'), plain).map(([schema, not]): JsonSchema => ({ ...schema, not })),
    fc
      .tuple(tie('structure'), tie('inPlace'), plain)
      // biome-ignore lint/suspicious/noThenProperty: it is the name of a keyword
      .map(([schema, test, other]): JsonSchema => ({ ...schema, if: test, then: other })),
  ),
}))

export { child, inPlace }

/**
 * Alternatives of a whole tool's arguments. What several of them call by one name has one schema,
 * or else they are closed: an open one would allow anything where another says what it is.
 */
const alternatives = fc.oneof(
  fc
    .tuple(
      fc.dictionary(name, child, { minKeys: 1, maxKeys: 4 }),
      fc.array(fc.tuple(object, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 })), {
        minLength: 1,
        maxLength: 3,
      }),
    )
    .map(([shared, list]) =>
      list.map(([schema, chosen], index): JsonSchema => {
        const isClosed = schema.additionalProperties === false
        const own = Object.entries(shared).filter((_, place) => !isClosed || chosen[place])
        const properties = { kind: { const: `k${index}` }, ...Object.fromEntries(own) }
        const { patternProperties: _, additionalProperties: __, ...rest } = schema
        const closed = isClosed && { additionalProperties: false }
        return { ...rest, type: 'object', properties, required: ['kind'], ...closed }
      }),
    ),
  fc
    .array(fc.tuple(fc.constantFrom('one', 'two', 'three'), object), { minLength: 1, maxLength: 3 })
    .map(list =>
      list.map(
        ([kind, { patternProperties: _, ...schema }]): JsonSchema => ({
          ...schema,
          type: 'object',
          properties: { ...(schema.properties as object), kind: { const: kind } },
          required: ['kind'],
          additionalProperties: false,
        }),
      ),
    ),
)

const rootBody = fc.oneof(
  { arbitrary: object, weight: 6 },
  {
    arbitrary: fc
      .tuple(object, fc.array(object, { minLength: 1, maxLength: 2 }))
      .map(([base, allOf]): JsonSchema => ({ ...base, allOf })),
    weight: 1,
  },
  { arbitrary: alternatives.map((oneOf): JsonSchema => ({ oneOf })), weight: 1 },
  { arbitrary: alternatives.map((anyOf): JsonSchema => ({ type: 'object', anyOf })), weight: 1 },
  {
    arbitrary: fc
      .tuple(
        object,
        fc.array(fc.uniqueArray(name, { minLength: 1, maxLength: 2 }), {
          minLength: 1,
          maxLength: 3,
        }),
      )
      .map(
        ([base, sets]): JsonSchema => ({ ...base, anyOf: sets.map(required => ({ required })) }),
      ),
    weight: 1,
  },
  { arbitrary: definitionReference, weight: 1 },
)

/** A schema of a tool's arguments: any root, and definitions that may refer to it and each other. */
export const toolSchemas: fc.Arbitrary<JsonSchema> = fc
  .tuple(rootBody, plain, object, structure)
  .map(([body, leaf, tree, pair]) => ({
    ...body,
    $defs: {
      Leaf: leaf,
      Tree: {
        ...tree,
        properties: { next: { $ref: '#/$defs/Tree' }, ...(tree.properties as object) },
      },
      'Pair/1': pair,
    },
  }))
