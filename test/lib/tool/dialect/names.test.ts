import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wireName } from '../../../../lib/tool/alias.ts'
import { DIALECTS, type Dialect } from '../../../../lib/tool/dialect/adapt.ts'
import { aliasesOf } from '../../../../lib/tool/dialect/names.ts'

/** What the providers' references say of a function's name. */
const PATTERNS: Record<Dialect, RegExp> = {
  openai: /^[a-zA-Z0-9_-]{1,64}$/,
  anthropic: /^[a-zA-Z0-9_-]{1,64}$/,
  google: /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/,
  xai: /^[a-zA-Z0-9_-]{1,64}$/,
  'openai-compatible': /^[a-zA-Z0-9_-]{1,64}$/,
  mcp: /^[a-zA-Z0-9_.-]{1,128}$/,
}

const ordinary = fc.stringMatching(/^([a-z][a-z0-9-]{0,12}:)?[a-z][a-z0-9_]{0,12}$/)
const anything = fc.string({ unit: 'binary', maxLength: 200 })
/** Names that differ only in what has to go, or only beyond the length. */
const alike = fc
  .tuple(
    fc.constantFrom('a', 'list files', 'x'.repeat(150)),
    fc.constantFrom('', '.', '/', ':', '-', '_', 'é', ' '),
  )
  .chain(([head, middle]) =>
    fc.constantFrom('', 'b', 'b!', 'ｂ', '\ud800', '\udfff').map(tail => `${head}${middle}${tail}`),
  )
const sets = fc.uniqueArray(fc.oneof(ordinary, anything, alike, alike), { maxLength: 30 })

const aliasIn = (aliases: Map<string, string>, name: string) =>
  [...aliases].find(([, other]) => other === name)?.[0]

describe.each(DIALECTS)('names at %s', dialect => {
  test('are within its pattern, and lead back to one name each', () => {
    fc.assert(
      fc.property(sets, names => {
        const aliases = aliasesOf(dialect, names)
        expect([...aliases.values()].sort()).toEqual([...names].sort())
        for (const alias of aliases.keys()) expect(alias).toMatch(PATTERNS[dialect])
      }),
    )
  })

  test('do not depend on the order of the others, nor on others that stay apart', () => {
    fc.assert(
      fc.property(sets, names => {
        const aliases = aliasesOf(dialect, names)
        expect(new Map(aliasesOf(dialect, names.toReversed()))).toEqual(aliases)
        const alone = names.map(name => aliasIn(aliasesOf(dialect, [name]), name))
        for (const [at, name] of names.entries())
          if (alone.indexOf(alone[at]) === alone.lastIndexOf(alone[at]))
            expect(aliasIn(aliases, name)).toBe(alone[at])
      }),
    )
  })

  test('are the ones that conversations already hold, whatever else there is', () => {
    fc.assert(
      fc.property(ordinary, sets, (name, others) => {
        const clash = others.filter(
          other => wireNameOf(other) === wireName(name) && /^[a-z]/.test(other),
        )
        fc.pre(clash.length === 0)
        expect(aliasIn(aliasesOf(dialect, [...others, name]), name)).toBe(wireName(name))
      }),
    )
  })
})

/** The alias of another name that has the form of ours. */
const wireNameOf = (name: string): string | undefined =>
  /^([a-z][a-z0-9-]*:)?[a-z][a-z0-9_]*$/.test(name) && name.length <= 64
    ? wireName(name)
    : undefined

test('a name of the greatest length stays, a longer one ends in its digest', () => {
  const [longest, longer] = ['n'.repeat(64), 'n'.repeat(65)]
  const aliases = [...aliasesOf('openai', [longest, longer]).keys()]
  expect(aliases[0]).toBe(longest)
  expect(aliases[1]).toMatch(/^n{55}_[0-9a-f]{8}$/)
  expect([...aliasesOf('mcp', ['n'.repeat(128)]).keys()]).toEqual(['n'.repeat(128)])
})

test('of names that would share an alias, ours keeps it, whichever comes first', () => {
  for (const names of [
    ['a-b', 'a:b', 'a b'],
    ['a b', 'a:b', 'a-b'],
  ]) {
    const aliases = aliasesOf('anthropic', names)
    expect(aliases.get('a-b')).toBe('a:b')
    expect(aliasIn(aliases, 'a-b')).toMatch(/^a-b_[0-9a-f]{8}$/)
    expect(aliasIn(aliases, 'a b')).toBe('a_b')
  }
})
