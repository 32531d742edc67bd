import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { adapt, DIALECTS, type JsonSchema } from '../../../../lib/tool/dialect/adapt.ts'

/** An exclusive bound of a whole number may be told as the next one. */
const CANARY = /79(18|19|20)/

/** A constraint of each kind with something in it that occurs nowhere else. */
const CANARIES: Record<string, JsonSchema[]> = {
  string: [
    { minLength: 7919 },
    { maxLength: 7919 },
    { pattern: '^canary7919' },
    { pattern: '^(?!canary7919)' },
    { format: 'canary7919' },
    { enum: ['canary7919', 'x'] },
    { const: 'canary7919' },
    { not: { const: 'canary7919' } },
    { default: 'canary7919' },
    { allOf: [{ pattern: '^x' }, { pattern: 'canary7919' }] },
    // biome-ignore lint/suspicious/noThenProperty: it is the name of a keyword
    { if: { minLength: 2 }, then: { pattern: 'canary7919' } },
    { contentEncoding: 'canary7919' },
  ],
  integer: [
    { minimum: 7919 },
    { maximum: 7919 },
    { exclusiveMinimum: 7918 },
    { exclusiveMaximum: 7920 },
    { multipleOf: 7919 },
    { enum: [7919, 1] },
    { not: { enum: [7919] } },
  ],
  number: [
    { exclusiveMinimum: 0.7919 },
    { exclusiveMaximum: 0.7919 },
    { multipleOf: 0.7919 },
    { const: 0.7919 },
  ],
  boolean: [{ const: true, description: 'canary7919' }],
  array: [
    { minItems: 7919 },
    { maxItems: 7919 },
    { uniqueItems: true, description: 'canary7919' },
    { contains: { const: 'canary7919' } },
    { prefixItems: [{ const: 'canary7919' }, {}] },
    { prefixItems: [{}], items: { const: 'canary7919' } },
    { items: { enum: ['canary7919'] } },
    { unevaluatedItems: { const: 'canary7919' } },
    { const: ['canary7919'] },
  ],
  object: [
    { minProperties: 7919 },
    { maxProperties: 7919 },
    { propertyNames: { pattern: 'canary7919' } },
    { patternProperties: { canary7919: { type: 'string' } } },
    { patternProperties: { canary7919: false }, additionalProperties: { type: 'string' } },
    { additionalProperties: { const: 'canary7919' } },
    { dependentRequired: { a: ['canary7919'] } },
    { dependentSchemas: { a: { required: ['canary7919'] } } },
    { required: ['canary7919'] },
    { properties: { canary7919: false } },
    { anyOf: [{ required: ['canary7919'] }, { required: ['a'] }] },
    { oneOf: [{ properties: { canary7919: {} } }, { required: ['b'] }] },
    { not: { required: ['canary7919'] } },
    // biome-ignore lint/suspicious/noThenProperty: it is the name of a keyword
    { if: { required: ['a'] }, then: { required: ['canary7919'] } },
    { if: { required: ['a'] }, else: { required: ['canary7919'] } },
    { const: { canary7919: 1 } },
    { unevaluatedProperties: { const: 'canary7919' } },
    { $ref: 'https://example.org/canary7919' },
  ],
}

const canaries = fc.constantFrom(
  ...Object.entries(CANARIES).flatMap(([type, list]) => list.map(words => ({ type, ...words }))),
)

/** Ways to put one schema into another that still has to do with its values. */
const WRAPPINGS: ((schema: JsonSchema) => JsonSchema)[] = [
  schema => ({ type: 'object', properties: { p: schema } }),
  schema => ({ type: 'object', properties: { p: schema }, additionalProperties: false }),
  schema => ({ type: 'array', items: schema }),
  schema => ({ anyOf: [{ type: 'null' }, schema] }),
  schema => ({ oneOf: [schema, { type: 'object', properties: { q: { const: 'other' } } }] }),
  schema => ({ allOf: [schema, { description: 'Also this.' }] }),
  schema => ({ type: 'object', additionalProperties: schema }),
  schema => ({ type: 'array', prefixItems: [{ type: 'string' }, schema] }),
  schema => ({ description: 'Mine', title: 'T', allOf: [{ anyOf: [schema] }] }),
]
const wrapped = fc
  .tuple(canaries, fc.array(fc.constantFrom(...WRAPPINGS), { maxLength: 3 }))
  .map(([canary, wrappings]) =>
    wrappings.reduce((schema, wrap) => wrap(schema), canary as JsonSchema),
  )

const argument = (schema: JsonSchema): JsonSchema => ({ type: 'object', properties: { p: schema } })

/** What a model reads of a tool: its schema and the notes. */
const read = (dialect: (typeof DIALECTS)[number], schema: JsonSchema): string => {
  const { schema: written, notes } = adapt(dialect, schema)
  return JSON.stringify([written, notes])
}

describe.each(DIALECTS)('a constraint of an argument, at %s', dialect => {
  test('is on the wire or told, wherever it stands', () => {
    fc.assert(
      fc.property(wrapped, schema => {
        expect(read(dialect, argument(schema))).toMatch(CANARY)
      }),
      { numRuns: 200 },
    )
  })

  test('is on the wire or told where it is behind a reference', () => {
    fc.assert(
      fc.property(wrapped, schema => {
        const root = {
          type: 'object',
          properties: { p: { $ref: '#/$defs/D' } },
          $defs: { D: schema },
        }
        expect(read(dialect, root)).toMatch(CANARY)
        const local = { ...root, properties: { p: { $ref: '#/properties/q' }, q: schema } }
        expect(read(dialect, local)).toMatch(CANARY)
      }),
      { numRuns: 100 },
    )
  })

  test('is on the wire or told where it is of the arguments as a whole', () => {
    for (const canary of CANARIES.object ?? []) {
      const root = { type: 'object', properties: { a: {}, b: {} }, ...canary }
      expect(read(dialect, root)).toMatch(CANARY)
      const alternatives = { oneOf: [root, { type: 'object', properties: { c: { const: 1 } } }] }
      expect(read(dialect, alternatives)).toMatch(CANARY)
    }
  })
})
