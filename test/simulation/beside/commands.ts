import fc from 'fast-check'
import type { IndexName } from '../../../lib/data/definition.ts'
import { type Change, is, type Where } from '../../../lib/data/expression.ts'

// Random commands over a small space of keys, attributes and values, so that they meet each other.

/** A key's parts, without what sets one run's items apart from another's. */
export type LocalKey = { pk: string; sk: string }
export type Indexes = { index: IndexName; hash: string; range: string }[]

export type TransactionPart =
  | { how: 'insert' | 'put'; key: LocalKey; item: object; indexes: Indexes }
  | { how: 'update'; key: LocalKey; change: Change; where: Where; create: boolean }
  | { how: 'remove' | 'check'; key: LocalKey; where: Where }

export type Command =
  | { how: 'get' | 'remove'; key: LocalKey }
  | { how: 'batchGet'; keys: LocalKey[] }
  | { how: 'insert'; key: LocalKey; item: object; indexes: Indexes }
  | { how: 'update'; key: LocalKey; change: Change; where: Where; create: boolean; claim: boolean }
  | {
      how: 'query'
      index: IndexName | undefined
      hash: string
      prefix: string | undefined
      before: string | undefined
      newestFirst: boolean
      limit: number | undefined
    }
  | { how: 'transact'; writes: TransactionPart[] }

/**
 * Names that sort differently in UTF-8 and UTF-16, and such as begin alike; none that differ in case
 * alone, for dynoxide's begins_with (SQLite's LIKE) does not tell those apart.
 */
const RANGES = ['a', 'a#1', 'b', '\uffee', '\u{1f600}']
export const HASHES = ['x', 'y']

const key = fc.record({ pk: fc.constantFrom(...HASHES), sk: fc.constantFrom(...RANGES) })
const index = fc.constantFrom<IndexName>('gsi1', 'gsi2', 'gsi3')
const indexes = fc.uniqueArray(
  fc.record({ index, hash: fc.constantFrom(...HASHES), range: fc.constantFrom(...RANGES) }),
  { selector: each => each.index, maxLength: 2 },
)

const text = fc.constantFrom('', 'OPEN', 'DONE', 'OP', 'ü')
const number = fc.oneof(
  { weight: 2, arbitrary: fc.integer({ min: -2, max: 3 }) },
  fc.constantFrom(0.1, 0.2, -1.5, 1e-7, 123_456_789, Number.MAX_SAFE_INTEGER),
  fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
)
const strings = fc.uniqueArray(fc.constantFrom('a', 'b', 'OP', 'OPEN', 'é'), { minLength: 1 })
const stringSet = strings.map(members => new Set(members))
const numberSet = fc
  .uniqueArray(fc.integer({ min: 0, max: 3 }), { minLength: 1 })
  .map(members => new Set(members))
const bytes = fc.uint8Array({ maxLength: 3 })
const simple = fc.oneof(text, number, fc.boolean(), fc.constant(null), stringSet, numberSet, bytes)
const value = fc.oneof(
  { weight: 4, arbitrary: simple },
  fc.array(simple, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('p', 'q'), simple),
  // Past a unit of writing, and of reading.
  fc.constantFrom(1_100, 4_200).map(length => 'l'.repeat(length)),
)

const KINDS = { text, number, tags: stringSet, numbers: numberSet, data: value }
const attribute = fc.constantFrom(...(Object.keys(KINDS) as (keyof typeof KINDS)[]))

/** Mostly a value of an attribute's own kind, so that tests of it mean something. */
const valueFor = (name: keyof typeof KINDS) =>
  fc.oneof({ weight: 5, arbitrary: KINDS[name] as fc.Arbitrary<unknown> }, value)

/** A map from some attributes to what `of` makes for them. */
const perAttribute = <T>(
  of: (name: keyof typeof KINDS) => fc.Arbitrary<T>,
  maxLength: number,
): fc.Arbitrary<Record<string, T>> =>
  fc
    .uniqueArray(
      attribute.chain(name => of(name).map(each => [name, each] as [string, T])),
      { selector: ([name]) => name, maxLength },
    )
    .map(entries => Object.fromEntries(entries))

const item = perAttribute(valueFor, 4)

/** What has an order: of all else DynamoDB refuses `<`, and dynoxide doesn't. */
const ordered = (name: string) =>
  name === 'number' ? fc.oneof(number, fc.constantFrom(-3, 20, 100)) : fc.oneof(text, number, bytes)

const testOf = (name: keyof typeof KINDS): fc.Arbitrary<unknown> => {
  const operand = valueFor(name)
  return fc.oneof(
    { weight: 3, arbitrary: operand },
    fc.constantFrom<unknown>(is.absent, is.present, undefined),
    ordered(name).map(is.below),
    ordered(name).map(is.atMost),
    ordered(name).map(is.above),
    fc.array(operand, { minLength: 1, maxLength: 3 }).map(is.oneOf),
    strings.map(is.without),
  )
}

const where: fc.Arbitrary<Where> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: perAttribute(testOf, 2) },
  fc
    .tuple(
      perAttribute(testOf, 1),
      fc.array(
        perAttribute(testOf, 2).filter(each =>
          Object.values(each).some(test => test !== undefined),
        ),
        { minLength: 1, maxLength: 3 },
      ),
    )
    .map(([tests, any]) => ({ ...tests, any })),
)

const indexKeys = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  fc.record({ gsi1pk: fc.constantFrom(...HASHES), gsi1sk: fc.constantFrom(...RANGES) }),
  fc.record({ gsi2sk: fc.constantFrom(...RANGES) }),
  fc.constantFrom<object>({ gsi1pk: 1 }, { gsi1sk: '' }, { gsi2sk: null }),
)

const anyChange: fc.Arbitrary<Change> = fc.record({
  set: fc.tuple(perAttribute(valueFor, 2), indexKeys).map(sets => Object.assign({}, ...sets)),
  remove: fc.uniqueArray(
    fc.oneof(
      { weight: 4, arbitrary: attribute as fc.Arbitrary<string> },
      fc.constantFrom('gsi1pk', 'gsi2sk'),
    ),
    { maxLength: 2 },
  ),
  add: fc.oneof(
    fc.constant({}),
    { weight: 3, arbitrary: fc.record({ number }) },
    { weight: 2, arbitrary: fc.record({ tags: stringSet }) },
    fc.record({ numbers: numberSet }),
    perAttribute<unknown>(() => fc.oneof(number, stringSet), 1),
  ) as fc.Arbitrary<Record<string, number | Set<string>>>,
  delete: perAttribute<unknown>(
    name => (name === 'numbers' ? numberSet : stringSet),
    1,
  ) as fc.Arbitrary<Record<string, Set<string>>>,
})

/** Each attribute once: all else is refused, but by dynoxide in a transaction. */
const soundChange: fc.Arbitrary<Change> = anyChange.map(change => {
  const names = new Set<string>()
  const only = <T>(from: Record<string, T> = {}): Record<string, T> => {
    const entries = Object.entries(from).filter(([name]) => !names.has(name))
    for (const [name] of entries) names.add(name)
    return Object.fromEntries(entries)
  }
  const set = only(change.set)
  const remove = change.remove?.filter(name => !names.has(name)) ?? []
  for (const name of remove) names.add(name)
  return { set, remove, add: only(change.add), delete: only(change.delete) }
})
const isSome = (each: Change): boolean =>
  [each.set, each.remove, each.add, each.delete].some(part => Object.keys(part ?? {}).length > 0)

const change = fc.oneof({ weight: 5, arbitrary: soundChange }, anyChange)

const create = fc.boolean()
const part: fc.Arbitrary<TransactionPart> = fc.oneof(
  fc.record({ how: fc.constantFrom('insert' as const, 'put' as const), key, item, indexes }),
  {
    weight: 2,
    arbitrary: fc.record({
      how: fc.constant('update' as const),
      key,
      change: soundChange.filter(isSome),
      where,
      create,
    }),
  },
  fc.record({ how: fc.constantFrom('remove' as const, 'check' as const), key, where }),
)

const range = fc.option(fc.constantFrom(...RANGES, 'c'), { nil: undefined })

export const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ how: fc.constantFrom('get' as const, 'remove' as const), key }),
  fc.record({ how: fc.constant('batchGet' as const), keys: fc.array(key, { maxLength: 4 }) }),
  { weight: 3, arbitrary: fc.record({ how: fc.constant('insert' as const), key, item, indexes }) },
  {
    weight: 5,
    arbitrary: fc.record({
      how: fc.constant('update' as const),
      key,
      change,
      where,
      create,
      claim: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      how: fc.constant('query' as const),
      index: fc.option(index, { nil: undefined }),
      hash: fc.constantFrom(...HASHES),
      prefix: range,
      before: fc.option(range, { nil: undefined, freq: 2 }),
      newestFirst: fc.boolean(),
      limit: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      how: fc.constant('transact' as const),
      writes: fc.array(part, { minLength: 1, maxLength: 4 }),
    }),
  },
)
