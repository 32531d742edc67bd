import { describe, expect, test } from 'vitest'
import { adapt, DIALECTS, type JsonSchema } from '../../../../lib/tool/dialect/adapt.ts'
import { MAX_RECURSION } from '../../../../lib/tool/dialect/context.ts'
import { MAX_VARIANTS } from '../../../../lib/tool/dialect/root.ts'
import { MAX_TOLD_CHARS } from '../../../../lib/tool/dialect/say.ts'

const argument = (schema: JsonSchema | boolean): JsonSchema => ({
  type: 'object',
  properties: { p: schema },
})
const written = (dialect: (typeof DIALECTS)[number], schema: JsonSchema | boolean) =>
  (adapt(dialect, argument(schema)).schema.properties as JsonSchema).p

describe('what a dialect has no word for', () => {
  test('is a sentence after the description', () => {
    expect(written('openai', { type: 'string', description: 'A code', minLength: 1 })).toEqual({
      type: 'string',
      description: 'A code. At least 1 character.',
    })
    expect(written('openai-compatible', { type: 'number', exclusiveMinimum: 0 })).toEqual({
      type: 'number',
      description: 'Greater than 0.',
    })
  })

  test('is another word where one says the same', () => {
    expect(
      written('google', { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9.5 }),
    ).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 9,
    })
    expect(written('google', { const: 'x' })).toEqual({ type: 'string', enum: ['x'] })
    expect(written('google', { type: ['string', 'null'] })).toEqual({
      anyOf: [{ type: 'string' }, { type: 'null' }],
    })
    expect(written('xai', { oneOf: [{ type: 'string' }, { type: 'integer' }] })).toEqual({
      anyOf: [{ type: 'string' }, { type: 'integer' }],
    })
    expect(
      written('google', {
        allOf: [
          { type: 'number', minimum: 1 },
          { type: 'integer', minimum: 3 },
        ],
      }),
    ).toEqual({ type: 'integer', minimum: 3 })
  })

  test('is told where alternatives must not match together and could', () => {
    const union = {
      oneOf: [
        { type: 'integer', minimum: 3 },
        { type: 'number', maximum: 9 },
      ],
    }
    expect(written('google', union)).toMatchObject({
      description: 'Exactly one of the alternatives must match.',
    })
  })

  test('is told in short, however long it is', () => {
    const { description } = written('openai', {
      type: 'string',
      not: { enum: Array.from({ length: 2000 }, (_, at) => `value ${at}`) },
    }) as { description: string }
    expect(description.length).toBeLessThan(MAX_TOLD_CHARS + 100)
    expect(description).toMatch(/^Must not match \{"enum":\["value 0",.*… \(shortened\)\.$/)
  })
})

describe('objects', () => {
  test('say that they are open where silence would close them', () => {
    expect(written('xai', { type: 'object' })).toEqual({
      type: 'object',
      additionalProperties: true,
    })
    expect(written('google', { type: 'object' })).toEqual({ type: 'object' })
  })

  test('without a type are objects by their words', () => {
    expect(written('google', { properties: { a: { minLength: 2 } }, required: ['a'] })).toEqual({
      type: 'object',
      properties: { a: { type: 'string', description: 'At least 2 characters.' } },
      required: ['a'],
    })
  })

  test('of patterns are records, and told what their names must be', () => {
    const schema = {
      type: 'object',
      patternProperties: { '^x-': { type: 'integer' } },
      additionalProperties: false,
    }
    expect(written('google', schema)).toEqual({
      type: 'object',
      description:
        'Properties whose name matches ^x- must match {"type":"integer"}. No other properties.',
      additionalProperties: { type: 'integer' },
    })
  })

  test('that several schemas describe have the properties of all', () => {
    const optional = { type: ['string', 'null'] }
    const schema = {
      allOf: [
        { type: 'object', properties: { a: { type: 'string', minLength: 2 } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'integer' } }, additionalProperties: optional },
      ],
    }
    expect(written('openai', schema)).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string', description: 'At least 2 characters.' },
        b: { type: 'integer' },
      },
      required: ['a'],
      additionalProperties: optional,
    })
  })

  test('know the properties that a part of them allows by name or not', () => {
    const closed = (part: JsonSchema) => ({ allOf: [part], unevaluatedProperties: false })
    const part = { type: 'object', properties: { a: { type: 'string' } } }
    expect(written('google', closed(part))).toEqual({ ...part, additionalProperties: false })
    const open = { ...part, additionalProperties: true }
    expect(written('google', closed(open))).toEqual(open)
  })

  test('that no value can be are left out, and told where others are allowed', () => {
    const schema = {
      type: 'object',
      properties: { a: false, b: { allOf: [{ type: 'string' }, { type: 'null' }] } },
    }
    expect(written('google', schema)).toEqual({ type: 'object', description: 'Leave out a, b.' })
    expect(written('google', { ...schema, additionalProperties: false })).toEqual({
      type: 'object',
      additionalProperties: false,
    })
  })
})

describe('references', () => {
  const tree: JsonSchema = {
    type: 'object',
    properties: { root: { $ref: '#/$defs/Node', description: 'The top' } },
    $defs: {
      Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } }, required: ['label'] },
      Unused: { type: 'string' },
    },
  }

  test('are kept where the provider has them, with what they name and nothing else', () => {
    const { schema } = adapt('openai', tree)
    expect(schema.properties).toEqual({
      root: { description: 'The top', anyOf: [{ $ref: '#/$defs/Node' }] },
    })
    expect(Object.keys(schema.$defs as object)).toEqual(['Node'])
  })

  test('are replaced elsewhere, and end after a few rounds with a word', () => {
    const text = JSON.stringify(adapt('google', tree).schema)
    expect(text.match(/"next"/g)).toHaveLength(MAX_RECURSION)
    expect(text).toContain('{"type":"object","description":"Has the shape of \\"Node\\" again."}')
    expect(text).not.toContain('$ref')
  })

  test('to the whole, to a place, to an anchor and to nowhere are all followed or told', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        whole: { $ref: '#' },
        place: { $ref: '#/properties/text' },
        anchor: { $ref: '#here' },
        nowhere: { $ref: 'https://example.org/other' },
        text: { type: 'string', $anchor: 'here' },
      },
    }
    const { properties } = adapt('google', schema).schema as { properties: JsonSchema }
    expect(properties).toMatchObject({
      place: { type: 'string' },
      anchor: { type: 'string' },
      nowhere: { description: 'Must match the schema https://example.org/other.' },
    })
    const kept = adapt('mcp', schema).schema as { properties: JsonSchema; $defs: JsonSchema }
    expect(kept.properties.whole).toEqual({ $ref: '#/$defs/root' })
    expect(kept.properties.anchor).toEqual({ $ref: '#/$defs/text' })
    expect(Object.keys(kept.$defs)).toEqual(['root', 'text'])
  })

  test.each(DIALECTS)('in circles do not hang, at %s', dialect => {
    const circle: JsonSchema = {
      $ref: '#/$defs/a',
      $defs: {
        a: { $ref: '#/$defs/b' },
        b: { allOf: [{ $ref: '#/$defs/a' }, { anyOf: [{ $ref: '#/$defs/b' }, { $ref: '#' }] }] },
      },
    }
    expect(adapt(dialect, circle).schema).toMatchObject({ type: 'object' })
    const many = Array.from({ length: 20 }, (_, at) => `D${at}`)
    const node = Object.fromEntries(many.map(name => [name, { $ref: `#/$defs/${name}` }]))
    const definitions = Object.fromEntries(
      many.map(name => [name, { type: 'object', properties: node }]),
    )
    const text = JSON.stringify(
      adapt(dialect, { type: 'object', properties: node, $defs: definitions }),
    )
    expect(text.length).toBeLessThan(200_000)
  })
})

describe('the arguments as a whole', () => {
  test.each(DIALECTS)('are refused where they can be no object, at %s', dialect => {
    for (const schema of [
      { type: 'string' },
      { anyOf: [{ type: 'string' }, { type: 'array' }] },
      { allOf: [{ type: 'object' }, { type: 'string' }] },
      { enum: ['x'] },
    ])
      expect(() => adapt(dialect, schema)).toThrow(
        expect.objectContaining({ code: 'INVALID_DEFINITION' }),
      )
    expect(adapt(dialect, {}).schema).toMatchObject({ type: 'object', properties: {} })
  })

  test.each(DIALECTS)('may have hundreds of alternatives, each of them told, at %s', dialect => {
    const oneOf = Array.from({ length: 500 }, (_, at) => ({
      type: 'object',
      properties: { op: { const: `op${at}` }, [`a${at}`]: { type: 'string' } },
      required: ['op', `a${at}`],
    }))
    const { schema, notes } = adapt(dialect, { oneOf })
    expect(Object.keys(schema.properties as object)).toHaveLength(501)
    expect(schema.required).toEqual(['op'])
    expect(notes.join(' ')).toContain('(500) op "op499"; requires a499')
  })

  test('have more alternatives told as JSON, and stay open to them', () => {
    const alternatives = (count: number) => ({
      oneOf: Array.from({ length: count }, (_, at) => ({
        type: 'object',
        properties: { [`a${at}`]: {} },
      })),
    })
    const count = (of: number) =>
      Object.keys(adapt('mcp', alternatives(of)).schema.properties as object).length
    expect(count(MAX_VARIANTS)).toBe(MAX_VARIANTS)
    expect(count(MAX_VARIANTS + 1)).toBe(0)
    expect(adapt('mcp', alternatives(MAX_VARIANTS + 1)).notes.join()).toContain('Must match one of')
  })

  test('have an alias each where the provider refuses their name', () => {
    const schema = {
      type: 'object',
      properties: { 'filter[id]': { type: 'string' }, $top: {}, filter_id_: {} },
      required: ['filter[id]'],
      additionalProperties: false,
    }
    const { schema: wire, notes, toWire, fromWire } = adapt('anthropic', schema)
    expect(Object.keys(wire.properties as object)).toEqual(['filter_id__2', '_top', 'filter_id_'])
    expect(wire.required).toEqual(['filter_id__2'])
    expect(notes).toEqual(['filter_id__2 stands for "filter[id]".', '_top stands for "$top".'])
    expect(toWire({ 'filter[id]': 'x' })).toEqual({ filter_id__2: 'x' })
    expect(fromWire({ filter_id__2: 'x', _top: 1 })).toEqual({ 'filter[id]': 'x', $top: 1 })
    expect(fromWire({ 'filter[id]': 'x' })).toEqual({ 'filter[id]': 'x' })
    const twice = { 'filter[id]': 'x', filter_id__2: 'y' }
    expect(fromWire(twice)).toEqual(twice)
    expect(adapt('openai', schema).schema.required).toContain('filter[id]')
  })

  test('change places with an alias where other names are allowed, so that none is lost', () => {
    const { toWire, fromWire } = adapt('anthropic', { type: 'object', properties: { 'a b': {} } })
    const values = { 'a b': 1, a_b: 2 }
    expect(toWire(values)).toEqual({ a_b: 1, 'a b': 2 })
    expect(fromWire(toWire(values))).toEqual(values)
  })

  test('named like what every object has are arguments like any other', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}',
    )
    const values = JSON.parse('{"__proto__":"x","constructor":1}')
    for (const dialect of DIALECTS) {
      const { schema: wire, toWire, fromWire } = adapt(dialect, schema)
      expect(Object.keys(wire.properties as object)).toEqual(['__proto__', 'constructor'])
      expect(Object.entries(fromWire(toWire(values)))).toEqual(Object.entries(values))
    }
  })
})

test('schemas of older drafts are read as they were meant', () => {
  const schema = {
    type: 'object',
    properties: {
      pair: {
        type: 'array',
        items: [{ type: 'string' }, { type: 'integer' }],
        additionalItems: false,
      },
      above: { type: 'integer', minimum: 3, exclusiveMinimum: true },
      least: { type: 'integer', minimum: 3, exclusiveMinimum: false },
    },
    dependencies: { above: ['least'], least: { required: ['pair'] } },
  }
  const { schema: wire, notes } = adapt('google', schema)
  expect(wire.properties).toEqual({
    pair: {
      type: 'array',
      description: 'The items in order: {"type":"string"}, {"type":"integer"}.',
      items: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      maxItems: 2,
    },
    above: { type: 'integer', minimum: 4 },
    least: { type: 'integer', minimum: 3 },
  })
  expect(notes).toEqual([
    'With above, also give least.',
    'With least, it must match {"required":["pair"]}.',
  ])
})

test.each(DIALECTS)('nesting without end does not overflow, at %s', dialect => {
  let schema: JsonSchema = { type: 'string' }
  for (let level = 0; level < 20_000; level++) schema = argument(schema)
  expect(JSON.stringify(adapt(dialect, schema))).toContain('Nested too deep')
})

test.each(DIALECTS)(
  'nor do conditions within conditions, and references to references, at %s',
  dialect => {
    let schema: JsonSchema = { type: 'object' }
    for (let level = 0; level < 20_000; level++) schema = { allOf: [schema] }
    expect(JSON.stringify(adapt(dialect, schema))).toContain('Nested too deep')
    const chain = Array.from({ length: 20_000 }, (_, index) => [
      `d${index}`,
      { $ref: `#/$defs/d${index + 1}` },
    ])
    const $defs = Object.fromEntries(chain)
    expect(JSON.stringify(adapt(dialect, { $ref: '#/$defs/d0', $defs }))).toContain(
      'Nested too deep',
    )
  },
)
