import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wireName } from '../../../lib/tool/alias.ts'

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/)
const slug = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/)
const qualified = fc.oneof(
  name,
  fc.tuple(slug, name).map(parts => parts.join(':')),
)

test('every name has an alias within the pattern of all providers', () => {
  fc.assert(
    fc.property(qualified, text => {
      expect(wireName(text)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    }),
  )
})

test('an alias leads back to its name', () => {
  fc.assert(
    fc.property(qualified, text => {
      const alias = wireName(text)
      const hyphen = alias.lastIndexOf('-')
      const back = hyphen < 0 ? alias : `${alias.slice(0, hyphen)}:${alias.slice(hyphen + 1)}`
      expect(back).toBe(text)
    }),
  )
})

test('the longest alias has 64 characters', () => {
  expect(wireName(`${'s'.repeat(31)}:${'n'.repeat(32)}`)).toHaveLength(64)
  expect(() => wireName(`${'s'.repeat(32)}:${'n'.repeat(32)}`)).toThrow(
    expect.objectContaining({ code: 'INVALID_DEFINITION' }),
  )
})
