import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { afterEach, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { is } from '../../../lib/data/expression.ts'
import * as table from '../../../lib/data/table.ts'
import { transact } from '../../../lib/data/transact.ts'
import { useLocalTable } from '../../local-table.ts'
import { loseNextAnswer } from './lost-answer.ts'

useLocalTable()

const Row = z.object({ status: z.string() })
let rows = 0
const freshKey = () => ({ pk: `row#${rows++}`, sk: 'row' })
const insertRow = async (status: string) => {
  const key = freshKey()
  await table.insert(Row, { status }, { key })
  return key
}

afterEach(() => {
  dynamodb().middlewareStack.remove('conflict')
  dynamodb().middlewareStack.remove('lost-answer')
  vi.restoreAllMocks()
})

/** The next transactions meet another one on their items. */
const conflict = (times: number): { requests: () => number } => {
  let requests = 0
  dynamodb().middlewareStack.add(
    next => async arguments_ => {
      requests += 1
      if (requests > times) return next(arguments_)
      throw new TransactionCanceledException({
        $metadata: {},
        message: 'Transaction cancelled',
        CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }],
      })
    },
    { step: 'initialize', name: 'conflict' },
  )
  return { requests: () => requests }
}

test('all writes of a transaction land together', async () => {
  const [made, changed, removed] = [freshKey(), await insertRow('OPEN'), await insertRow('OPEN')]
  const replaced = await insertRow('OPEN')
  const outcome = await transact([
    { insert: { status: 'NEW' }, key: made },
    { update: { set: { status: 'DONE' } }, key: changed, where: { status: 'OPEN' } },
    { remove: removed },
    { put: { status: 'REPLACED' }, key: replaced },
  ])
  expect(outcome).toEqual({ ok: true })
  const found = await table.batchGet([made, changed, removed, replaced])
  expect([made, changed, removed, replaced].map(key => found.get(Row, key)?.status)).toEqual([
    'NEW',
    'DONE',
    undefined,
    'REPLACED',
  ])
})

test('one failed condition undoes all, and the failed writes are named', async () => {
  const [made, taken, done] = [freshKey(), await insertRow('OPEN'), await insertRow('DONE')]
  const outcome = await transact([
    { insert: { status: 'NEW' }, key: made },
    { insert: { status: 'NEW' }, key: taken },
    { check: done, where: { status: 'OPEN' } },
  ])
  expect(outcome).toEqual({ ok: false, failed: [1, 2] })
  expect(await table.get(Row, made)).toBeUndefined()
})

test('an update in a transaction makes no item', async () => {
  const key = freshKey()
  expect(await transact([{ update: { set: { status: 'X' } }, key }])).toEqual({
    ok: false,
    failed: [0],
  })
})

test('a removal can be conditional', async () => {
  const key = await insertRow('DONE')
  expect((await transact([{ remove: key, where: { status: 'OPEN' } }])).ok).toBe(false)
  expect((await transact([{ remove: key, where: { status: is.present } }])).ok).toBe(true)
})

test('a transaction that meets another one is tried again until it lands', async () => {
  const key = freshKey()
  const { requests } = conflict(2)
  expect(await transact([{ insert: { status: 'NEW' }, key }])).toEqual({ ok: true })
  expect(requests()).toBe(3)
  expect(await table.get(Row, key)).toEqual({ status: 'NEW' })
})

test('a conflict that never ends is an error, after a bounded number of attempts', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const { requests } = conflict(Number.POSITIVE_INFINITY)
  await expect(transact([{ insert: { status: 'NEW' }, key: freshKey() }])).rejects.toThrow(
    'Transaction cancelled',
  )
  expect(requests()).toBe(8)
})

test('a transaction whose answer was lost has succeeded once, not failed', async () => {
  const key = await insertRow('OPEN')
  loseNextAnswer()
  const outcome = await transact([
    { update: { set: { status: 'DONE' } }, key, where: { status: 'OPEN' } },
  ])
  expect(outcome).toEqual({ ok: true })
  expect(await table.get(Row, key)).toEqual({ status: 'DONE' })
})
