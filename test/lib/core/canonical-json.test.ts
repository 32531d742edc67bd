import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '../../../lib/core/canonical-json.ts'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The same value with the keys of every object in the opposite order. */
const reordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reordered)
  if (!isObject(value)) return value
  const entries = Object.entries(value).reverse()
  return Object.fromEntries(entries.map(([key, item]) => [key, reordered(item)]))
}

test('the order of keys never matters', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      expect(canonicalJson(reordered(value))).toBe(canonicalJson(value))
    }),
  )
})

test('it is JSON of the same value, so distinct values differ', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test.each([
  [{ a: 1 }, { a: '1' }],
  [
    [1, 2],
    [2, 1],
  ],
  [{ a: null }, {}],
  [{ a: { b: 1 } }, { 'a.b': 1 }],
  [[], {}],
])('%j and %j differ', (a, b) => {
  expect(canonicalJson(a)).not.toBe(canonicalJson(b))
})

test('a field without a value counts as absent, and in a list as null', () => {
  expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}')
})

test('a date reads as JSON has it', () => {
  expect(canonicalJson({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}')
})

test('a field that is merely named toJSON changes nothing', () => {
  expect(canonicalJson({ b: 1, toJSON: 2, a: 3 })).toBe('{"a":3,"b":1,"toJSON":2}')
})
