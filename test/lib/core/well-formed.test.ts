import { expect, test } from 'vitest'
import { MAX_DEPTH, wellFormed } from '../../../lib/core/well-formed.ts'

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

test('half a character becomes one of its own, in texts, lists and keys', () => {
  expect(wellFormed({ 'a\ud83d': ['b\udc00', '😀', 1, null] })).toEqual({
    'a\ufffd': ['b\ufffd', '😀', 1, null],
  })
})

test(`a value may be nested ${MAX_DEPTH} levels deep`, () => {
  expect(wellFormed(nested(MAX_DEPTH))).toEqual(nested(MAX_DEPTH))
})

test.each([MAX_DEPTH + 1, 20_000])('%i levels are refused, with a text that says so', levels => {
  expect(() => wellFormed(nested(levels))).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', message: expect.stringMatching(/100/) }),
  )
})
