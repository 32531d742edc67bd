import { expect, test } from 'vitest'
import * as z from 'zod'
import { closed } from '../../../lib/tool/closed.ts'

const inner = z.object({ a: z.int() })

test.each<[string, z.ZodType, unknown]>([
  ['an object', z.object({ in: inner }), { in: { a: 1, extra: 1 } }],
  ['a list', z.object({ in: z.array(inner) }), { in: [{ a: 1, extra: 1 }] }],
  ['a tuple', z.object({ in: z.tuple([inner], inner) }), { in: [{ a: 1 }, { a: 1, extra: 1 }] }],
  ['a record', z.object({ in: z.record(z.string(), inner) }), { in: { x: { a: 1, extra: 1 } } }],
  ['a union', z.object({ in: z.union([z.string(), inner]) }), { in: { a: 1, extra: 1 } }],
  ['what may be absent', z.object({ in: inner.optional() }), { in: { a: 1, extra: 1 } }],
  ['what may be null', z.object({ in: inner.nullable() }), { in: { a: 1, extra: 1 } }],
  ['what has a default', z.object({ in: inner.default({ a: 1 }) }), { in: { a: 1, extra: 1 } }],
  ['what is read-only', z.object({ in: inner.readonly() }), { in: { a: 1, extra: 1 } }],
  ['what is lazy', z.object({ in: z.lazy(() => inner) }), { in: { a: 1, extra: 1 } }],
  ['what is left over', z.object({}).catchall(inner), { x: { a: 1, extra: 1 } }],
  ['a described one', z.object({ in: inner.describe('In.') }), { in: { a: 1, extra: 1 } }],
])(
  'a field that nobody declared is refused within %s, and was dropped before',
  (_, schema, value) => {
    expect(schema.safeParse(value).success).toBe(true)
    expect(closed(schema).safeParse(value).error?.issues).toContainEqual(
      expect.objectContaining({ code: 'unrecognized_keys', keys: ['extra'] }),
    )
  },
)

test('of two forms, the one that declares a field takes it', () => {
  const union = z.union([inner, z.object({ a: z.int(), b: z.int() })])
  expect(union.parse({ a: 1, b: 2 })).toEqual({ a: 1 })
  expect(closed(union).parse({ a: 1, b: 2 })).toEqual({ a: 1, b: 2 })
})

test.each<[string, z.ZodType]>([
  ['a loose object', z.looseObject({ a: z.int() })],
  ['a record', z.record(z.string(), z.int())],
  ['a catchall', z.object({ a: z.int() }).catchall(z.int())],
])('what is declared open stays open: %s', (_, schema) => {
  expect(closed(z.object({ in: schema })).parse({ in: { a: 1, b: 2 } })).toEqual({
    in: { a: 1, b: 2 },
  })
})

test('checks and descriptions stay', () => {
  const even = z.object({ a: z.int() }).refine(({ a }) => a % 2 === 0, 'must be even')
  const schema = closed(z.object({ in: even.describe('In.') }))
  expect(schema.safeParse({ in: { a: 1 } }).error?.issues[0]?.message).toBe('must be even')
  expect(z.toJSONSchema(schema).properties?.in).toMatchObject({
    description: 'In.',
    additionalProperties: false,
  })
})

test('a constant that is used twice stays one', () => {
  expect(closed(inner)).toBe(closed(inner))
  expect(closed(closed(inner))).toBe(closed(inner))
})
