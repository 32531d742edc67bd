import { INDEXES, type IndexName, PRIMARY_KEY } from '../../../lib/data/definition.ts'
import { compareText, type Item } from './value.ts'

/** An item as it is kept: nobody changes it, a write puts another in its place. */
export type Row = { pk: string; sk: string; item: Item; bytes: number }

/** The table itself, or one of its indexes. */
export type Order = IndexName | 'table'

/** Where a row stands in an order, under one hash key. */
export type Place = { range: string; pk: string; sk: string }
export type Entry = Place & { row: Row }

/** What was at a key before a write. */
type Change = { pk: string; sk: string; before: Row | undefined; at: number }

/** How many changes are remembered, for reads that lag. */
const MAX_CHANGES = 256

const ORDERS: Order[] = ['table', ...(Object.keys(INDEXES) as IndexName[])]
export const keysOf = (order: Order) => (order === 'table' ? PRIMARY_KEY : INDEXES[order])

/** What a read sees: the rows as they are, or as some of them were. */
export type View = {
  get: (pk: string, sk: string) => Row | undefined
  /** Under one hash key, in order; not to be changed. */
  entries: (order: Order, hash: string) => Entry[]
}

export type Rows = View & {
  /** Puts a row in the place of what is at a key, or removes that. */
  set: (key: { pk: string; sk: string }, row: Row | undefined, now: number) => void
  all: () => Row[]
  /** A view in which each item is at a random one of its moments, the earliest `since`. */
  late: (random: () => number, since: number) => View
  clone: () => Rows
}

type State = { byKey: Map<string, Map<string, Row>>; lists: Map<Order, Map<string, Entry[]>> }

export const createRows = (from?: { state: State; changes: Change[] }): Rows => {
  const state: State = from
    ? { byKey: copied(from.state.byKey, rows => new Map(rows)), lists: copiedLists(from.state) }
    : { byKey: new Map(), lists: new Map(ORDERS.map(order => [order, new Map()])) }
  let changes = [...(from?.changes ?? [])]

  const get = (pk: string, sk: string): Row | undefined => state.byKey.get(pk)?.get(sk)
  const entries = (order: Order, hash: string): Entry[] => state.lists.get(order)?.get(hash) ?? []

  return {
    get,
    entries,
    set: ({ pk, sk }, row, now) => {
      const before = get(pk, sk)
      if (before === row) return
      changes.push({ pk, sk, before, at: now })
      if (changes.length > 2 * MAX_CHANGES) changes = changes.slice(-MAX_CHANGES)
      const rows = state.byKey.get(pk) ?? new Map<string, Row>()
      state.byKey.set(pk, rows)
      if (row) rows.set(sk, row)
      else rows.delete(sk)
      for (const [order, list] of state.lists) replace(order, list, before, row)
    },
    all: () => [...state.byKey.values()].flatMap(rows => [...rows.values()]),
    late: (random, since) => {
      const recent = changes.slice(-MAX_CHANGES).filter(({ at }) => at >= since)
      return lateView({ get, entries }, chosen(recent, random))
    },
    clone: () => createRows({ state, changes }),
  }
}

const copied = <K, T>(from: Map<K, T>, copy: (value: T) => T): Map<K, T> =>
  new Map([...from].map(([key, value]) => [key, copy(value)]))

const copiedLists = ({ lists }: State): State['lists'] =>
  copied(lists, list => copied(list, entries => [...entries]))

/** Where a row stands in an order; in an index only with both of its keys. */
const entryOf = (order: Order, row: Row | undefined): (Entry & { hash: string }) | undefined => {
  if (!row) return undefined
  const { hashKey, rangeKey } = keysOf(order)
  const hash = row.item[hashKey]?.S
  const range = row.item[rangeKey]?.S
  if (hash === undefined || range === undefined) return undefined
  return { hash, range, pk: row.pk, sk: row.sk, row }
}

const replace = (
  order: Order,
  list: Map<string, Entry[]>,
  before: Row | undefined,
  after: Row | undefined,
): void => {
  const [old, next] = [entryOf(order, before), entryOf(order, after)]
  if (old) {
    const entries = list.get(old.hash) ?? []
    const at = firstIndex(entries, entry => comparePlaces(entry, old) >= 0)
    if (next?.hash === old.hash && next.range === old.range) {
      entries[at] = next
      return
    }
    entries.splice(at, 1)
  }
  if (!next) return
  const entries = list.get(next.hash) ?? []
  list.set(next.hash, entries)
  entries.splice(
    firstIndex(entries, entry => comparePlaces(entry, next) >= 0),
    0,
    next,
  )
}

/** Real DynamoDB leaves open how equal range keys are ordered; here it is by the item's key. */
export const comparePlaces = (a: Place, b: Place): number =>
  compareText(a.range, b.range) || compareText(a.pk, b.pk) || compareText(a.sk, b.sk)

/** The first index whose entry passes, where all after one that passes do too; else the length. */
export const firstIndex = (entries: Entry[], passes: (entry: Entry) => boolean): number => {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (passes(entries[middle] as Entry)) high = middle
    else low = middle + 1
  }
  return low
}

/** Of every item that changed, what it was before one of its changes; or nothing, which is now. */
const chosen = (changes: Change[], random: () => number): Late[] => {
  const moments = new Map<string, Change[]>()
  for (const change of changes) {
    const name = JSON.stringify([change.pk, change.sk])
    const list = moments.get(name)
    if (list) list.push(change)
    else moments.set(name, [change])
  }
  return [...moments.values()].flatMap(list => {
    const { pk, sk, before } = list[Math.floor(random() * (list.length + 1))] ?? {}
    return pk === undefined || sk === undefined ? [] : { pk, sk, row: before }
  })
}

type Late = { pk: string; sk: string; row: Row | undefined }

const lateView = ({ get, entries }: View, late: Late[]): View => ({
  get: (pk, sk) => {
    const found = late.find(each => each.pk === pk && each.sk === sk)
    return found ? found.row : get(pk, sk)
  },
  entries: (order, hash) => {
    const list = new Map([[hash, [...entries(order, hash)]]])
    for (const { pk, sk, row } of late) replace(order, list, get(pk, sk), row)
    return list.get(hash) ?? []
  },
})
