import * as sdk from '@aws-sdk/client-dynamodb'
import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { batchGetItem, dynamodbCommand, query } from '../../lib/aws/dynamodb.ts'
import { AppError } from '../../lib/core/errors.ts'
import { useLocalTable } from '../local-table.ts'
import { command, HASHES } from './beside/commands.ts'
import { edges, strictEdges } from './beside/edges.ts'
import { performByData } from './beside/perform.ts'
import { inputOf, raw } from './beside/raw.ts'
import { plainItems, standBeside } from './beside/stand.ts'
import { createFakeTable, type FakeTable } from './table.ts'

useLocalTable()

const table = createFakeTable()
let both: ReturnType<typeof standBeside>
beforeAll(() => {
  both = standBeside(table)
})
afterEach(() => {
  both.differences.splice(0)
})

const send = async (name: string, input: object): Promise<object> => {
  return dynamodbCommand(`dynamodb:${name.replace(/Command$/, '')}`)(input)
}

/** Both tables may refuse a command, as they refuse it alike. */
const unlessRefused = (error: unknown): void => {
  if (error instanceof Error && ('$fault' in error || error instanceof AppError)) return
  // What was read has a number that JavaScript has none for.
  if (!String(error).includes("can't be converted to BigInt")) throw error
}

/** What dynoxide itself holds under some keys, beside what the simulated table does. */
const expectSameItems = async (hashes: string[]): Promise<void> => {
  const real = await Promise.all(
    hashes.map(hash =>
      query({
        TableName: 'espalier',
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: hash } },
      }),
    ),
  )
  const simulated = table.items().filter(({ pk }) => hashes.includes(pk?.S ?? ''))
  expect(plainItems(simulated)).toEqual(plainItems(real.flatMap(({ Items }) => Items ?? [])))
}

/** A failure is made smaller for so long at most. */
const PROPERTY = { numRuns: 40, interruptAfterTimeLimit: 60_000 }
const PROPERTY_TIMEOUT_MS = 90_000
let runs = 0

test(
  'whatever the platform asks of it, it answers as DynamoDB does',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 20, maxLength: 60 }), async commands => {
        const run = `run${runs++}`
        for (const each of commands) await performByData(run, each).catch(unlessRefused)
        expect(both.differences.splice(0)).toEqual([])
        await expectSameItems(HASHES.map(hash => `${run}#${hash}`))
      }),
      PROPERTY,
    )
  },
  PROPERTY_TIMEOUT_MS,
)

test(
  'any condition and any update means what it means to DynamoDB',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(raw, { minLength: 20, maxLength: 60 }), async commands => {
        const hash = `raw${runs++}`
        for (const each of commands)
          await send(each.command, inputOf(each, hash)).catch(unlessRefused)
        expect(both.differences.splice(0)).toEqual([])
        await expectSameItems([hash])
      }),
      PROPERTY,
    )
  },
  PROPERTY_TIMEOUT_MS,
)

test.each(edges)('%s: %s', async (_, outcome, name, input) => {
  const answer = await send(name, { ...input, ReturnConsumedCapacity: 'TOTAL' }).then(
    () => 'done',
    error => error.name,
  )
  expect(answer).toBe(outcome === 'done' ? 'done' : 'ValidationException')
  expect(both.differences).toEqual([])
})

test.each(strictEdges)('%s is refused, though not by dynoxide', (_, name, input) => {
  expect(() => createFakeTable().perform(name, input)).toThrow(
    expect.objectContaining({ name: 'ValidationException' }),
  )
})

test('a page ends at a megabyte, and a batch at sixteen', async () => {
  const keys = Array.from({ length: 42 }, (_, index) => ({
    pk: { S: 'large' },
    sk: { S: `${index}`.padStart(2, '0') },
  }))
  const fill = { S: 'f'.repeat(400_000) }
  for (const key of keys)
    await send('PutItemCommand', { TableName: 'espalier', Item: { ...key, fill } })
  for (const ScanIndexForward of [true, false]) {
    const page = await query({
      TableName: 'espalier',
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: 'large' } },
      ScanIndexForward,
    })
    expect(page.Count).toBe(2)
  }
  const batch = await batchGetItem({ RequestItems: { espalier: { Keys: keys } } })
  expect(batch.UnprocessedKeys?.espalier?.Keys).toHaveLength(1)
  expect(both.differences).toEqual([])
})

describe('the token of a transaction', () => {
  const TableName = 'espalier'
  const Key = { pk: { S: 'token' }, sk: { S: 'row' } }
  const add = (by: string, ClientRequestToken: string, condition?: string) => ({
    TransactItems: [
      {
        Update: {
          TableName,
          Key,
          UpdateExpression: 'ADD #c :by',
          ConditionExpression: condition,
          ExpressionAttributeNames: { '#c': 'count' },
          ExpressionAttributeValues: { ':by': { N: by } },
        },
      },
    ],
    ClientRequestToken,
    ReturnConsumedCapacity: 'TOTAL',
  })
  const count = (from: FakeTable) =>
    (from.perform('GetItemCommand', { TableName, Key }) as sdk.GetItemCommandOutput).Item?.count?.N

  test('lets it land once, and no other under it', async () => {
    await send('TransactWriteItemsCommand', add('1', 'first'))
    await send('TransactWriteItemsCommand', add('1', 'first'))
    await expect(send('TransactWriteItemsCommand', add('2', 'first'))).rejects.toBeInstanceOf(
      sdk.IdempotentParameterMismatchException,
    )
    expect(count(table)).toBe('1')
    expect(both.differences).toEqual([])
  })

  test('is free again where the transaction was cancelled', async () => {
    const onlyNew = add('1', 'second', 'attribute_not_exists(#c)')
    await expect(send('TransactWriteItemsCommand', onlyNew)).rejects.toBeInstanceOf(
      sdk.TransactionCanceledException,
    )
    await send('DeleteItemCommand', { TableName, Key })
    await send('TransactWriteItemsCommand', onlyNew)
    expect(count(table)).toBe('1')
    expect(both.differences).toEqual([])
  })

  test('is known for ten minutes', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    const fresh = createFakeTable()
    fresh.perform('TransactWriteItemsCommand', add('1', 'third'))
    vi.setSystemTime(10 * 60 * 1_000 - 1)
    fresh.perform('TransactWriteItemsCommand', add('1', 'third'))
    expect(count(fresh)).toBe('1')
    vi.setSystemTime(10 * 60 * 1_000)
    fresh.perform('TransactWriteItemsCommand', add('1', 'third'))
    expect(count(fresh)).toBe('2')
    vi.useRealTimers()
  })
})

test('a clone is a table of its own', () => {
  const Item = { pk: { S: 'a' }, sk: { S: 'b' }, gsi1pk: { S: 'x' }, gsi1sk: { S: 'y' } }
  const original = createFakeTable()
  original.perform('PutItemCommand', { TableName: 'espalier', Item })
  const copy = original.clone()
  copy.perform('DeleteItemCommand', { TableName: 'espalier', Key: { pk: Item.pk, sk: Item.sk } })
  expect(copy.items()).toEqual([])
  expect(original.items()).toEqual([Item])
  const list = {
    TableName: 'espalier',
    IndexName: 'gsi1',
    KeyConditionExpression: '#k = :k',
    ExpressionAttributeNames: { '#k': 'gsi1pk' },
    ExpressionAttributeValues: { ':k': { S: 'x' } },
  }
  expect(original.perform('QueryCommand', list)).toMatchObject({ Count: 1 })
  expect(copy.perform('QueryCommand', list)).toMatchObject({ Count: 0 })
})

test('what it does not know, it says so instead of an answer', () => {
  const key = { pk: { S: 'a' }, sk: { S: 'b' } }
  const input = { TableName: 'espalier', Key: key, ProjectionExpression: 'pk' }
  expect(() => table.perform('GetItemCommand', input)).toThrow('does not know ProjectionExpression')
  expect(() => table.perform('ScanCommand', {})).toThrow('does not know ScanCommand')
})
