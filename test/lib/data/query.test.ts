import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import * as table from '../../../lib/data/table.ts'
import { useLocalTable } from '../../local-table.ts'

useLocalTable()

const Row = z.object({ sk: z.string() })
const OWNER = 'user_1#note'

beforeAll(async () => {
  const names = ['note#1', 'note#2', 'note#3', 'note#4', 'note#5', 'other#1', 'other#2']
  for (const sk of names)
    await table.insert(
      z.object({}),
      {},
      { key: { pk: 'list', sk }, indexes: { gsi1pk: OWNER, gsi1sk: sk } },
    )
  await table.insert(z.object({}), {}, { key: { pk: 'list2', sk: 'note#1' } })
})

const names = ({ items }: table.Page<z.infer<typeof Row>>) => items.map(({ sk }) => sk)
const notes = { pk: 'list', prefix: 'note#' }

test('pages follow each other to the end, none missing and none twice', async () => {
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await table.query(Row, { ...notes, limit: 2, ...(cursor ? { cursor } : {}) })
    expect(page.items.length).toBeLessThanOrEqual(2)
    seen.push(...names(page))
    cursor = page.cursor
  } while (cursor)
  expect(seen).toEqual(['note#1', 'note#2', 'note#3', 'note#4', 'note#5'])
})

test('an index lists newest first, page by page', async () => {
  const list = { index: 'gsi1', pk: OWNER, newestFirst: true, limit: 4 } as const
  const first = await table.query(Row, list)
  expect(names(first)).toEqual(['other#2', 'other#1', 'note#5', 'note#4'])
  const second = await table.query(Row, { ...list, cursor: first.cursor ?? '' })
  expect(names(second)).toEqual(['note#3', 'note#2', 'note#1'])
})

test('an item without an index attribute is not in the index', async () => {
  expect(await table.queryAll(Row, { index: 'gsi2', pk: OWNER })).toEqual([])
})

test('a list can end before a key', async () => {
  expect(names(await table.query(Row, { pk: 'list', before: 'note#3' }))).toEqual([
    'note#1',
    'note#2',
  ])
})

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test.each<[string, () => Promise<string> | string]>([
  ['of another key', async () => cursorOf({ pk: 'list2', limit: 1 })],
  ['of another prefix', async () => cursorOf({ pk: 'list', prefix: 'other#', limit: 1 })],
  ['of an index', async () => cursorOf({ index: 'gsi1', pk: OWNER, limit: 1 })],
  ['that is no cursor at all', () => 'tomorrow'],
  ['that is damaged', async () => (await cursorOf({ ...notes, limit: 1 })).slice(0, -4)],
  ['of a foreign key, made by hand', () => encoded({ pk: 'list2', sk: 'note#1' })],
  ['with a key too many', () => encoded({ pk: 'list', sk: 'note#1', gsi1pk: OWNER })],
  ['with a key too few', () => encoded({ pk: 'list' })],
  ['with an empty key', () => encoded({ pk: 'list', sk: '' })],
  ['that holds no keys', () => encoded(['list', 'note#1'])],
])('a cursor %s is refused as the caller’s mistake', async (_, make) => {
  const cursor = await make()
  await expect(table.query(Row, { ...notes, cursor })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
  })
})

const cursorOf = async (list: Parameters<typeof table.query>[1]): Promise<string> => {
  const { cursor } = await table.query(Row, list)
  return cursor ?? ''
}
