import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { validateArguments } from '../../../lib/call/arguments.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { defineTool } from '../../../lib/tool/define.ts'

const Filter = z.object({ from: z.string(), labels: z.array(z.string()).optional() })
const operationOf = (shape: z.ZodRawShape) =>
  defineTool({
    name: 'mail',
    description: 'x',
    operations: {
      search: {
        description: 'x',
        parameters: z.object(shape),
        describe: () => 'x',
        execute: () => 'x',
      },
    },
  }).operations.search

const search = operationOf({
  filter: Filter.optional(),
  filters: z.array(Filter).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  pair: z.tuple([z.string(), Filter]).optional(),
  either: z.union([Filter, z.int()]).optional(),
  text: z.string().optional(),
  any: z.unknown().optional(),
  kind: z.enum(['new', 'old']).optional(),
  count: z.int().min(1).optional(),
})

const refusal = (values: Record<string, unknown>, operation = search) => {
  try {
    validateArguments(operation, values)
  } catch (error) {
    if (error instanceof AppError) return error
  }
  throw new Error('was not refused')
}

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['an object', { filter: '{"from": "a"}' }, { filter: { from: 'a' } }],
  ['a list', { filters: '[{"from": "a"}]' }, { filters: [{ from: 'a' }] }],
  ['an object in a list', { filters: ['{"from": "a"}'] }, { filters: [{ from: 'a' }] }],
  [
    'a text within a text',
    { filter: JSON.stringify({ from: 'a', labels: '["b"]' }) },
    { filter: { from: 'a', labels: ['b'] } },
  ],
  ['a record', { headers: ' {"a": "b"}' }, { headers: { a: 'b' } }],
  ['a tuple', { pair: '["a", {"from": "b"}]' }, { pair: ['a', { from: 'b' }] }],
  ['one of several forms', { either: '{"from": "a"}' }, { either: { from: 'a' } }],
])('%s that arrives as a text of JSON is taken for what it is', (_, sent, taken) => {
  const before = structuredClone(sent)
  expect(validateArguments(search, sent)).toEqual(taken)
  expect(sent).toEqual(before)
})

test.each<[string, Record<string, unknown>]>([
  ['is a text', { text: '{"from": "a"}' }],
  ['may be anything', { any: '["a"]' }],
])('a text of JSON stays a text where the schema says that it %s', (_, values) => {
  expect(validateArguments(search, values)).toEqual(values)
})

test.each<[string, Record<string, unknown>, string]>([
  ['no JSON', { filter: '{from: "a"}' }, 'expected object, received string'],
  ['JSON of something else', { filter: '"a"' }, 'expected object, received string'],
  ['a list where an object is due', { filter: '[]' }, 'expected object, received array'],
  ['an object that misses something', { filter: '{}' }, '"filter.from": Missing: expected string.'],
])('a text that is %s is refused', (_, values, message) => {
  expect(refusal(values).message).toContain(message)
})

test('a text of JSON nested without end is refused, not followed without end', () => {
  const nested = operationOf({ tree: z.json() })
  let text = '{}'
  for (let level = 0; level < 12; level++) text = JSON.stringify([text])
  // Where any JSON may stand, a text is a text.
  expect(validateArguments(nested, { tree: text })).toEqual({ tree: text })
  expect(refusal({ filters: `${'['.repeat(200)}${']'.repeat(200)}` }).code).toBe('VALIDATION_ERROR')
})

test('as many texts as fit are read, in time that grows with them, and stay as they came', () => {
  const filters = Array<string>(100_000).fill('{"from":"a"}')
  const values = { filters, filter: '{"from":"b"}' }
  const read = validateArguments(search, values) as { filters: unknown[]; filter: unknown }
  expect(read.filters).toHaveLength(filters.length)
  expect(read.filters.at(-1)).toEqual({ from: 'a' })
  expect(read.filter).toEqual({ from: 'b' })
  expect(values.filter).toBe('{"from":"b"}')
  expect(filters[0]).toBe('{"from":"a"}')
})

test('however an object is written as texts, the same object comes of it', () => {
  const Tree: z.ZodType = z.object({
    name: z.string(),
    get children() {
      return z.array(Tree).optional()
    },
  })
  const plant = operationOf({ tree: Tree })
  const { tree } = fc.letrec<{ tree: { name: string; children?: unknown[] } }>(tie => ({
    tree: fc.record(
      { name: fc.string(), children: fc.array(tie('tree'), { maxLength: 3 }) },
      { requiredKeys: ['name'] },
    ),
  }))
  /** The value with some of its objects and lists as texts, as the coins fall. */
  const scrambled = (value: unknown, coin: () => boolean): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const inner = Array.isArray(value)
      ? value.map(item => scrambled(item, coin))
      : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, scrambled(item, coin)]))
    return coin() ? JSON.stringify(inner) : inner
  }
  fc.assert(
    fc.property(tree, fc.infiniteStream(fc.boolean()), (value, coins) => {
      const written = scrambled(value, () => coins.next().value ?? false)
      expect(validateArguments(plant, { tree: written })).toEqual(
        validateArguments(plant, { tree: JSON.parse(JSON.stringify(value).toWellFormed()) }),
      )
    }),
  )
})

test.each<[string, Record<string, unknown>, string[]]>([
  ['a field that nobody declared', { colour: 1 }, ['"colour": is no argument; there are: filter,']],
  [
    'one within another',
    { filter: { from: 'a', colour: 1 } },
    ['"filter.colour": is not declared here.'],
  ],
  ['one that is missing', { filter: {} }, ['"filter.from": Missing: expected string.']],
  ['what is none of the options', { kind: 'odd' }, ['"kind":', '"new"|"old"']],
  ['a bound', { count: 0 }, ['"count":', '>=1']],
  ['a type', { count: 'x' }, ['"count":', 'expected number, received string']],
  [
    'none of several forms',
    { either: true },
    ['"either":', 'none of its possible forms', 'expected object', 'expected number'],
  ],
  [
    'a form that is nearly right',
    { either: { from: 1 } },
    ['"from": Invalid input: expected string, received number'],
  ],
])('a refusal says what is wrong with %s', (_, values, words) => {
  for (const word of words) expect(refusal(values).message).toContain(word)
})

test('all problems are told at once', () => {
  expect(refusal({ kind: 'odd', count: 0, colour: 1 }).details).toHaveLength(3)
})
