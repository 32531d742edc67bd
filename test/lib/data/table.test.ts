import { afterEach, expect, test } from 'vitest'
import * as z from 'zod'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { newNonce } from '../../../lib/core/ids.ts'
import { is } from '../../../lib/data/expression.ts'
import * as table from '../../../lib/data/table.ts'
import { currentUsage } from '../../../lib/data/usage.ts'
import { useLocalTable } from '../../local-table.ts'
import { loseNextAnswer } from './lost-answer.ts'

useLocalTable()

const Row = z.object({
  name: z.string(),
  status: z.string().default('OPEN'),
  count: z.number().optional(),
})
let rows = 0
const freshKey = () => ({ pk: `row#${rows++}`, sk: 'row' })
const insertRow = async (row: Partial<z.infer<typeof Row>> = {}) => {
  const key = freshKey()
  await table.insert(Row, { name: 'a row', status: 'OPEN', ...row }, { key })
  return key
}

afterEach(() => dynamodb().middlewareStack.remove('lost-answer'))

test('an item that was never written is undefined', async () => {
  expect(await table.get(Row, freshKey())).toBeUndefined()
})

test('an insert takes a free key once, and then names who has it', async () => {
  const key = freshKey()
  expect((await table.insert(Row, { name: 'first', status: 'OPEN' }, { key })).ok).toBe(true)
  const second = await table.insert(Row, { name: 'second', status: 'OPEN' }, { key })
  expect(second).toEqual({ ok: false, item: { name: 'first', status: 'OPEN' } })
  expect(await table.get(Row, key)).toMatchObject({ name: 'first' })
})

test('an insert whose answer was lost finds itself, and not a rival', async () => {
  const key = freshKey()
  loseNextAnswer()
  const row = { name: 'mine', status: 'OPEN' }
  expect(await table.insert(Row, row, { key })).toEqual({ ok: true, item: row })
  expect(await table.insert(Row, row, { key })).toEqual({ ok: false, item: row })
})

test('an update returns the item as it then is', async () => {
  const key = await insertRow({ count: 1 })
  const outcome = await table.update(
    Row,
    key,
    { set: { status: 'DONE' }, add: { count: 2 } },
    { where: { status: 'OPEN' } },
  )
  expect(outcome).toEqual({ ok: true, item: { name: 'a row', status: 'DONE', count: 3 } })
})

test('an update whose condition fails changes nothing and shows the item as it stands', async () => {
  const key = await insertRow({ status: 'DONE' })
  const change = { set: { name: 'changed' } }
  const outcome = await table.update(Row, key, change, { where: { status: 'OPEN' } })
  expect(outcome).toEqual({ ok: false, item: { name: 'a row', status: 'DONE' } })
  expect(await table.get(Row, key)).toMatchObject({ name: 'a row' })
})

test('an update makes an item only where it is told to', async () => {
  const key = freshKey()
  const change = { set: { name: 'made' } }
  expect(await table.update(Row, key, change)).toEqual({ ok: false, item: undefined })
  expect(await table.get(Row, key)).toBeUndefined()
  expect((await table.update(Row, key, change, { create: true })).ok).toBe(true)
  expect(await table.get(Row, key)).toMatchObject({ name: 'made' })
})

test('a claim whose answer was lost is known by its nonce, though the schema knows none', async () => {
  const key = await insertRow()
  loseNextAnswer()
  const claim = newNonce()
  const change = { set: { status: 'TAKEN' } }
  const outcome = await table.update(Row, key, change, { where: { status: 'OPEN' }, claim })
  expect(outcome).toEqual({ ok: true, item: { name: 'a row', status: 'TAKEN' } })
})

test('without a claim, the same accident looks like a lost race', async () => {
  const key = await insertRow()
  loseNextAnswer()
  const change = { set: { status: 'TAKEN' } }
  const outcome = await table.update(Row, key, change, { where: { status: 'OPEN' } })
  expect(outcome).toMatchObject({ ok: false, item: { status: 'TAKEN' } })
})

test('of many claims at once, one wins', async () => {
  const key = await insertRow()
  const claims = Array.from({ length: 10 }, () =>
    table.update(
      Row,
      key,
      { set: { status: 'TAKEN' } },
      { where: { status: 'OPEN' }, claim: newNonce() },
    ),
  )
  expect((await Promise.all(claims)).filter(({ ok }) => ok)).toHaveLength(1)
})

test('conditions on sets and on absent attributes mean what they say', async () => {
  const Sets = z.object({ cancelled: z.set(z.string()).optional() })
  const key = await insertRow()
  const add = (id: string) =>
    table.update(
      Sets,
      key,
      { add: { cancelled: new Set([id]) } },
      { where: { cancelled: is.without([id]) } },
    )
  expect((await add('a')).ok).toBe(true)
  expect((await add('a')).ok).toBe(false)
  expect(await add('b')).toEqual({ ok: true, item: { cancelled: new Set(['a', 'b']) } })
})

test('a removal says whether there was something to remove', async () => {
  const key = await insertRow()
  expect(await table.remove(key)).toBe(true)
  expect(await table.remove(key)).toBe(false)
})

test('more keys than one request may name come back in one batched read', async () => {
  const keys = await Promise.all(Array.from({ length: 101 }, () => insertRow()))
  const absent = freshKey()
  const { requests } = currentUsage()
  const found = await table.batchGet([...keys, ...keys.slice(0, 5), absent])
  expect(currentUsage().requests - requests).toBe(2)
  expect(keys.filter(key => found.get(Row, key) === undefined)).toEqual([])
  expect(found.get(Row, absent)).toBeUndefined()
})

test('a batched read of nothing asks nothing', async () => {
  const { requests } = currentUsage()
  expect((await table.batchGet([])).get(Row, freshKey())).toBeUndefined()
  expect(currentUsage().requests).toBe(requests)
})

test('an item that does not fit its schema is an error that shows no value', async () => {
  const key = await insertRow({ name: 'secret text' })
  const reading = table.get(z.object({ name: z.number() }), key)
  await expect(reading).rejects.toMatchObject({ code: 'INTERNAL' })
  await expect(reading).rejects.toThrow(`${key.pk} / row has bad fields: name.`)
  await expect(reading).rejects.not.toThrow('secret text')
})
