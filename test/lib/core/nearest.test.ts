import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { didYouMean, editDistance, MAX_NEAREST, nearest } from '../../../lib/core/nearest.ts'

const NAMES = [
  'calculator',
  'calendar',
  'time',
  'read_url',
  'sub_agent',
  'spawn_subagents',
  'media',
]

describe('the names nearest to a wrong one', () => {
  it.each([
    ['calculater', ['calculator']],
    ['Calculator', ['calculator']],
    ['tmie', ['time']],
    ['readUrl', ['read_url']],
    ['read-url', ['read_url']],
    ['subagent', ['sub_agent', 'spawn_subagents']],
    ['calc', ['calculator']],
    ['zzzzzz', []],
    ['', []],
    ['_', []],
  ])('of "%s" are %j', (wrong, expected) => {
    expect(nearest(wrong, NAMES)).toEqual(expected)
  })

  it(`are ${MAX_NEAREST} at most, the most alike first, and none for a text out of all proportion`, () => {
    const many = ['tool_a', 'tool_bc', 'tool_bcd', 'tool_b', 'tool_c']
    expect(nearest('tool_b', many)).toEqual(['tool_b', 'tool_a', 'tool_bc'])
    expect(nearest('x'.repeat(500_000), [...many, 'x'])).toEqual([])
    expect(didYouMean('tme', ['time', 'media'])).toBe(' Did you mean "time"?')
    expect(didYouMean('zzz', ['time'])).toBe('')
  })

  it('are names that there are, and the name itself before all others', () => {
    const name = fc.stringMatching(/^[a-z]{1,12}$/)
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1 }), names => {
        for (const known of names) expect(nearest(known, names)[0]).toBe(known)
      }),
    )
  })
})

describe('the distance of two names', () => {
  const name = fc.string({ maxLength: 8 })

  it('is what changes one into the other, and the same both ways', () => {
    fc.assert(
      fc.property(name, name, (one, other) => {
        const distance = editDistance(one, other)
        expect(distance).toBe(editDistance(other, one))
        expect(distance === 0).toBe(one === other)
        expect(distance).toBeGreaterThanOrEqual(Math.abs(one.length - other.length))
        expect(distance).toBeLessThanOrEqual(Math.max(one.length, other.length))
      }),
    )
  })

  it.each([
    ['time', 'tmie', 1],
    ['time', 'tim', 1],
    ['time', 'dime', 1],
    ['kitten', 'sitting', 3],
    ['', 'abc', 3],
  ])('of "%s" and "%s" is %i', (one, other, distance) => {
    expect(editDistance(one, other)).toBe(distance)
  })
})
