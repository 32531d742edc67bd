import { expect, test } from 'vitest'
import { collector, conditionOf, is, updateOf, type Where } from '../../../lib/data/expression.ts'

const readable = (where: Where) => {
  const collect = collector()
  return { text: conditionOf(where, collect), ...collect.attributes() }
}

test('a bare value means "equals"', () => {
  expect(readable({ status: 'OPEN' })).toEqual({
    text: '#n0 = :v0',
    ExpressionAttributeNames: { '#n0': 'status' },
    ExpressionAttributeValues: { ':v0': { S: 'OPEN' } },
  })
})

test('all attributes must pass, and one of the alternatives', () => {
  const { text } = readable({
    status: is.oneOf(['A', 'B']),
    any: [{ lease: is.absent }, { lease: is.atMost(5), owner: 'x' }],
  })
  expect(text).toBe(
    '(#n0 IN (:v0, :v1)) AND ((attribute_not_exists(#n1)) OR ((#n1 <= :v2) AND (#n2 = :v3)))',
  )
})

test('a single alternative has no brackets of its own, and one that tests nothing always holds', () => {
  expect(readable({ any: [{ a: 1 }] }).text).toBe('#n0 = :v0')
  expect(readable({ b: 2, any: [{ a: 1 }] }).text).toBe('(#n0 = :v0) AND (#n1 = :v1)')
  expect(readable({ b: 2, any: [{ a: 1 }, {}] }).text).toBe('#n0 = :v0')
})

test('what may be absent is, or is at most so much', () => {
  expect(readable({ lease: is.absentOrAtMost(5), a: 1 }).text).toBe(
    '(attribute_not_exists(#n0) OR #n0 <= :v0) AND (#n1 = :v1)',
  )
})

test('one attribute has one name, however often it is tested', () => {
  const { ExpressionAttributeNames } = readable({ a: 1, any: [{ a: 2 }, { a: 3 }] })
  expect(ExpressionAttributeNames).toEqual({ '#n0': 'a' })
})

test.each<[string, Where]>([
  ['nothing', {}],
  ['an undefined value', { status: undefined }],
  ['the absence of no value', { cancelled: is.without([]) }],
])('testing %s is no condition', (_, where) => {
  expect(readable(where).text).toBeUndefined()
})

test('a test of nothing leaves the others as they are, and names no attribute', () => {
  const condition = readable({ status: 'OPEN', cancelled: is.without([]) })
  expect(condition.text).toBe('#n0 = :v0')
  expect(condition.ExpressionAttributeNames).toEqual({ '#n0': 'status' })
})

test('a change sets, removes and adds, each only where there is something to do', () => {
  const collect = collector()
  const text = updateOf({ set: { a: 1, b: undefined }, remove: ['c'], add: { d: 2 } }, collect)
  expect(text).toBe('SET #n0 = :v0 REMOVE #n1 ADD #n2 :v1')
  expect(updateOf({ remove: ['c'] }, collector())).toBe('REMOVE #n0')
})

test('a change takes members out of sets as well', () => {
  const collect = collector()
  const text = updateOf({ add: { a: 1 }, delete: { b: new Set(['x', 'y']) } }, collect)
  expect(text).toBe('ADD #n0 :v0 DELETE #n1 :v1')
  expect(collect.attributes().ExpressionAttributeValues).toEqual({
    ':v0': { N: '1' },
    ':v1': { SS: ['x', 'y'] },
  })
})
