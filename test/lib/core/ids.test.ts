import fc from 'fast-check'
import { expect, test } from 'vitest'
import { derivedId, ID_KINDS, idOf, kindOf, newId, newNonce } from '../../../lib/core/ids.ts'

const parts = fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 4 })

test('the same parts always give the same id, and it is a valid one of its kind', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ID_KINDS), parts, (kind, values) => {
      const id = derivedId(kind, ...values)
      expect(derivedId(kind, ...values)).toBe(id)
      expect(idOf(kind).safeParse(id).success).toBe(true)
      expect(kindOf(id)).toBe(kind)
    }),
  )
})

test('distinct parts give distinct ids', () => {
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      fc.pre(JSON.stringify(a) !== JSON.stringify(b))
      expect(derivedId('call', ...a)).not.toBe(derivedId('call', ...b))
    }),
  )
})

test.each([
  [
    ['a', 'bc'],
    ['ab', 'c'],
  ],
  [['a', 'b'], ['ab']],
  [['a', ''], ['a']],
  [['1'], [1]],
])('%j and %j are told apart', (a, b) => {
  expect(derivedId('task', ...a)).not.toBe(derivedId('task', ...b))
})

test('a derived id stays what it was: records of earlier versions are found by it', () => {
  expect(derivedId('call', 'task_1', 0, 2)).toBe('call_3XGK1SZY8K155TYHP7GJFMQ6QV')
})

test('a new id is valid, and ids sort by the time of their making', () => {
  const [early, late] = [newId('task', 1_000), newId('task', 2_000)]
  expect(idOf('task').parse(early)).toBe(early)
  expect(early < late).toBe(true)
})

test.each([
  'task_',
  'task_123',
  'agent_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '',
])('%j is no id of a task', text => {
  expect(idOf('task').safeParse(text).success).toBe(false)
})

test('the kind of a foreign text is unknown', () => {
  expect(kindOf('orchard_01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBeUndefined()
})

test('no two claims have the same nonce', () => {
  expect(new Set(Array.from({ length: 1_000 }, newNonce)).size).toBe(1_000)
})
