import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { adapt, type JsonSchema } from '../../../../lib/tool/dialect/adapt.ts'
import { schemasWithin } from './documented.ts'
import { argumentsOf, validatorOf } from './values.ts'

/** What strict mode asks of a schema, as OpenAI's guide says it. */
const faults = (root: JsonSchema): string[] =>
  schemasWithin(root).flatMap(({ path, schema }) => {
    if (schema.type !== 'object')
      return '$ref' in schema || 'anyOf' in schema || 'type' in schema ? [] : [`${path}: no type`]
    const names = Object.keys((schema.properties ?? {}) as JsonSchema)
    return [
      ...(schema.additionalProperties === false ? [] : [`${path}: open`]),
      ...('properties' in schema ? [] : [`${path}: no properties`]),
      ...(JSON.stringify(names) === JSON.stringify(schema.required)
        ? []
        : [`${path}: required is ${schema.required}, not ${names}`]),
    ]
  })

const { member } = fc.letrec<{ member: JsonSchema; closed: JsonSchema }>(tie => ({
  closed: fc
    .tuple(
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('member'), { maxKeys: 3 }),
      fc.subarray(['a', 'b', 'c', 'd']),
    )
    .map(([properties, required]) => ({
      type: 'object',
      properties,
      required: required.filter(name => name in properties),
      additionalProperties: false,
    })),
  member: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'strict' },
    fc.constantFrom<JsonSchema[]>(
      { type: 'string', description: 'A text' },
      { type: 'string', enum: ['x', 'y'], description: 'One' },
      { type: 'integer', minimum: 1, default: 3 },
      { type: 'boolean' },
      { const: 'fixed' },
      { $ref: '#/$defs/Tree' },
      { description: 'A tree', $ref: '#/$defs/Tree' },
      { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      { type: ['string', 'integer'] },
    ),
    tie('closed'),
    tie('member').map((items): JsonSchema => ({ type: 'array', items })),
    fc.tuple(tie('closed'), tie('closed')).map(
      ([one, two]): JsonSchema => ({
        oneOf: [one, two].map((schema, index) => ({
          ...schema,
          properties: { kind: { const: index }, ...(schema.properties as JsonSchema) },
          required: ['kind', ...(schema.required as string[])],
        })),
      }),
    ),
    tie('closed').map((schema): JsonSchema => ({ anyOf: [{ type: 'string' }, schema] })),
  ),
}))

const closedTools = fc
  .tuple(
    fc.dictionary(fc.constantFrom('p', 'q', 'r'), member, { minKeys: 1 }),
    fc.subarray(['p', 'q', 'r']),
  )
  .map(
    ([properties, required]): JsonSchema => ({
      type: 'object',
      properties,
      required: required.filter(name => name in properties),
      additionalProperties: false,
      $defs: {
        Tree: {
          type: 'object',
          properties: {
            label: { type: 'string' },
            left: { $ref: '#/$defs/Tree' },
            more: { type: 'array', items: { $ref: '#/$defs/Tree' } },
          },
          required: ['label'],
          additionalProperties: false,
        },
      },
    }),
  )

const object = (properties: JsonSchema, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const isStrict = (schema: JsonSchema) => adapt('openai', schema).strict

describe('OpenAI in strict mode', () => {
  test('takes every schema of closed objects, and arguments come back as they were', () => {
    const cases = closedTools.chain(schema =>
      fc.record({ schema: fc.constant(schema), values: argumentsOf(schema) }),
    )
    let valid = 0
    fc.assert(
      fc.property(cases, ({ schema, values }) => {
        const adapted = adapt('openai', schema)
        expect(adapted.strict).toBe(true)
        expect(faults(adapted.schema)).toEqual([])
        if (!validatorOf(schema)(values)) return
        valid++
        const wire = adapted.toWire(values)
        expect(adapted.fromWire(wire)).toEqual(values)
        // What the model didn't say may be left out as well as null.
        expect(adapted.fromWire(values)).toEqual(values)
        const isValid = validatorOf(adapted.schema)
        expect({ wire, errors: isValid(wire) ? [] : isValid.errors }).toEqual({ wire, errors: [] })
      }),
      { numRuns: 100 },
    )
    expect(valid).toBeGreaterThan(50)
  })

  test('makes what may be left out nullable, and null means that it is left out', () => {
    const { schema, toWire, fromWire } = adapt(
      'openai',
      object({ city: { type: 'string' }, unit: { enum: ['C', 'F'], description: 'Unit.' } }, [
        'city',
      ]),
    )
    expect(schema).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: {
          description: 'Unit.',
          anyOf: [{ type: 'string', enum: ['C', 'F'] }, { type: 'null' }],
        },
      },
      required: ['city', 'unit'],
      additionalProperties: false,
    })
    expect(toWire({ city: 'Paris' })).toEqual({ city: 'Paris', unit: null })
    expect(fromWire({ city: 'Paris', unit: null })).toEqual({ city: 'Paris' })
    expect(fromWire({ city: null })).toEqual({ city: null })
  })

  test('tells a default, which null stands for', () => {
    const { schema, strict } = adapt('openai', object({ days: { type: 'integer', default: 5 } }))
    expect(strict).toBe(true)
    expect(schema.properties).toEqual({
      days: { type: ['integer', 'null'], description: 'Default: 5.' },
    })
  })

  test.each([
    ['an object is open', object({ a: { type: 'object', properties: {} } })],
    ['the arguments are open', { type: 'object', properties: {} }],
    [
      'an object is a record',
      object({ a: { type: 'object', additionalProperties: { type: 'string' } } }),
    ],
    ['a value may be anything', object({ a: {} }, ['a'])],
    ['the items of a list may be anything', object({ a: { type: 'array' } }, ['a'])],
    ['what may be left out may be null', object({ a: { type: ['string', 'null'] } })],
    [
      'alternatives can not be told apart and differ in what may be left out',
      object({
        a: { anyOf: [object({ x: { type: 'string' } }), object({ y: { type: 'string' } })] },
      }),
    ],
  ])('is off where %s', (_, schema) => {
    const adapted = adapt('openai', schema)
    expect(adapted.strict).toBe(false)
    const values = { a: null }
    expect(adapted.fromWire(values)).toBe(values)
  })

  test('is on where alternatives differ in what they require, which is the same both ways', () => {
    const branches = [
      object({ x: { type: 'string' } }, ['x']),
      object({ y: { type: 'string' } }, ['y']),
    ]
    expect(isStrict(object({ a: { anyOf: branches } }, ['a']))).toBe(true)
  })

  const deep = (levels: number): JsonSchema =>
    levels === 1 ? object({}) : object({ a: deep(levels - 1) }, ['a'])
  const wide = (count: number) =>
    object(
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { type: 'string' }])),
    )
  const listing = (values: string[]) => object({ a: { type: 'string', enum: values } })
  const texts = (count: number, length: number) =>
    Array.from({ length: count }, (_, at) => String(at).padStart(length, 'x'))

  test.each([
    ['10 levels', deep(10), deep(11)],
    ['5,000 properties', wide(5000), wide(5001)],
    ['1,000 values of enums', listing(texts(1000, 4)), listing(texts(1001, 4))],
    ['15,000 characters of a long enum', listing(texts(300, 50)), listing(texts(300, 51))],
    [
      '120,000 characters of names and values',
      object({ ['n'.repeat(119_999)]: { type: 'string' } }),
      object({ ['n'.repeat(119_999)]: { type: 'string' }, ab: { type: 'string' } }),
    ],
  ])('is on up to %s, and off beyond', (_, within, beyond) => {
    expect(isStrict(within)).toBe(true)
    expect(isStrict(beyond)).toBe(false)
  })
})
