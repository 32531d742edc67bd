import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  InternalServerError,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { dynamodb } from '../../lib/aws/dynamodb.ts'
import * as data from '../../lib/data/table.ts'
import { transact } from '../../lib/data/transact.ts'
import {
  conflictOf,
  connectionLost,
  type FaultKind,
  isRetriedBySdk,
  SDK_ATTEMPTS,
  throttlingOf,
  withFaults,
} from './faults.ts'
import { createRandom } from './random.ts'
import { createFakeTable, type FakeTable } from './table.ts'

process.env.ESPALIER_TABLE = 'espalier'

const Row = z.object({ count: z.number() })
const key = { pk: 'row', sk: 'row' }
const Key = { pk: { S: 'row' }, sk: { S: 'row' } }

let table: FakeTable
let faults: FaultKind[]
beforeEach(() => {
  table = createFakeTable()
  faults = []
})
afterEach(() => {
  dynamodb().middlewareStack.remove('simulated')
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** A table on which these faults happen, the first so many times that they can. */
const faulty = (kind: FaultKind, times = Number.POSITIVE_INFINITY) => {
  const rates = {
    get [kind]() {
      return faults.length < times ? 1 : 0
    },
  }
  const { next: random } = createRandom(1)
  return withFaults(table, { random, rates, onFault: each => faults.push(each) })
}

/** `lib/data` on a simulated table; what it would wait between its own attempts takes no time. */
const use = (used: Pick<FakeTable, 'perform'>): void => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  dynamodb().middlewareStack.add(
    (_, { commandName = '' }) =>
      async ({ input }) =>
        ({ output: used.perform(commandName, input), response: {} }) as never,
    { step: 'initialize', priority: 'high', name: 'simulated' },
  )
}

const add = {
  TableName: 'espalier',
  Key,
  UpdateExpression: 'ADD #c :one',
  ExpressionAttributeNames: { '#c': 'count' },
  ExpressionAttributeValues: { ':one': { N: '1' } },
}
const addInTransaction = { TransactItems: [{ Update: add }], ClientRequestToken: 'token' }
const countOf = (): string | undefined => table.items()[0]?.count?.N

const errorOf = (work: () => unknown): unknown => {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('It did not fail.')
}

describe('a conflict', () => {
  test('refuses a single write in one way and a transaction in another, at once', () => {
    const { perform } = faulty('conflict')
    expect(errorOf(() => perform('UpdateItemCommand', add))).toBeInstanceOf(
      TransactionConflictException,
    )
    const error = errorOf(() => perform('TransactWriteItemsCommand', addInTransaction))
    expect(error).toBeInstanceOf(TransactionCanceledException)
    expect((error as TransactionCanceledException).CancellationReasons).toEqual([
      { Code: 'TransactionConflict' },
    ])
    expect(faults).toHaveLength(2)
    expect(table.items()).toEqual([])
  })

  test('is met by writes alone', () => {
    const { perform } = faulty('conflict')
    expect(perform('GetItemCommand', { TableName: 'espalier', Key })).toEqual({})
  })

  test('is outlived by whoever tries again', async () => {
    use(faulty('conflict', 3))
    expect(await data.insert(Row, { count: 1 }, { key })).toMatchObject({ ok: true })
    faults.length = 0
    expect(await transact([{ update: { add: { count: 1 } }, key }])).toEqual({ ok: true })
    expect(faults).toHaveLength(3)
    expect(countOf()).toBe('2')
  })
})

describe('throttling', () => {
  test('is outlived by the SDK as long as it tries', () => {
    faulty('throttled', SDK_ATTEMPTS - 1).perform('UpdateItemCommand', add)
    expect(faults).toHaveLength(SDK_ATTEMPTS - 1)
    expect(countOf()).toBe('1')
  })

  test('of every attempt is what the caller sees, and nothing is written', () => {
    const { perform } = faulty('throttled')
    const error = errorOf(() => perform('UpdateItemCommand', add))
    expect(error).toBeInstanceOf(DynamoDBServiceException)
    expect(isRetriedBySdk(error)).toBe(true)
    expect(faults).toHaveLength(SDK_ATTEMPTS)
    expect(table.items()).toEqual([])
  })
})

describe('a lost answer', () => {
  test('of a write lets the SDK do it twice', () => {
    faulty('answer lost', 1).perform('UpdateItemCommand', add)
    expect(countOf()).toBe('2')
  })

  test('of a transaction does not, for the table knows its token', () => {
    faulty('answer lost', 1).perform('TransactWriteItemsCommand', addInTransaction)
    expect(countOf()).toBe('1')
  })

  test('of an insert, a claim or a transaction of the platform changes what it says, once', async () => {
    use(faulty('answer lost', 1))
    expect(await data.insert(Row, { count: 1 }, { key })).toMatchObject({ ok: true })
    faults.length = 0
    const claim = { where: { count: 1 }, claim: 'mine' }
    expect(await data.update(Row, key, { add: { count: 1 } }, claim)).toMatchObject({ ok: true })
    faults.length = 0
    expect(await transact([{ update: { add: { count: 1 } }, key }])).toEqual({ ok: true })
    expect(faults).toHaveLength(1)
    expect(countOf()).toBe('3')
  })

  test('each time is an error to the caller of what was done', () => {
    const { perform } = faulty('answer lost')
    expect(['TimeoutError', 'InternalServerError']).toContain(
      (errorOf(() => perform('UpdateItemCommand', add)) as Error).name,
    )
    expect(countOf()).toBe(`${SDK_ATTEMPTS}`)
  })

  test('hides a refusal too', () => {
    const { perform } = faulty('answer lost', 1)
    const input = { ...add, ConditionExpression: 'attribute_exists(pk)' }
    expect((errorOf(() => perform('UpdateItemCommand', input)) as Error).name).toBe(
      'ConditionalCheckFailedException',
    )
    expect(faults).toHaveLength(1)
  })
})

test('a lost request is sent again, and does nothing before it arrives', () => {
  faulty('request lost', SDK_ATTEMPTS - 1).perform('UpdateItemCommand', add)
  expect(countOf()).toBe('1')
  faults.length = 0
  const { perform } = faulty('request lost')
  expect((errorOf(() => perform('UpdateItemCommand', add)) as Error).name).toBe('TimeoutError')
  expect(countOf()).toBe('1')
})

test('keys that are left out of a batch are asked for again', async () => {
  use(table)
  const keys = ['a', 'b', 'c'].map(sk => ({ pk: 'row', sk }))
  for (const each of keys) await data.insert(Row, { count: 1 }, { key: each })
  dynamodb().middlewareStack.remove('simulated')
  use(faulty('keys left out', 2))
  const found = await data.batchGet([...keys, { pk: 'row', sk: 'none' }])
  expect(keys.map(each => found.get(Row, each))).toEqual(keys.map(() => ({ count: 1 })))
  expect(faults).toHaveLength(2)
})

describe('a late read', () => {
  const list = {
    TableName: 'espalier',
    IndexName: 'gsi1',
    KeyConditionExpression: '#k = :k',
    ExpressionAttributeNames: { '#k': 'gsi1pk' },
    ExpressionAttributeValues: { ':k': { S: 'list' } },
  }
  const put = (sk: string, count: string) =>
    table.perform('PutItemCommand', {
      TableName: 'espalier',
      Item: {
        pk: { S: 'row' },
        sk: { S: sk },
        gsi1pk: { S: 'list' },
        gsi1sk: { S: sk },
        count: { N: count },
      },
    })
  /** What a hundred reads see, as one text each. */
  const seen = (perform: FakeTable['perform'], command: string, input: object): Set<string> =>
    new Set(
      Array.from({ length: 100 }, () => {
        const answer = perform(command, input) as { Items?: object[]; Item?: object }
        const items = (answer.Items ?? [answer.Item]) as Record<string, { N: string; S: string }>[]
        return items.map(item => (item ? `${item.sk?.S}${item.count?.N}` : '')).join(' ')
      }),
    )

  test('of an index sees each item at a moment of its own', () => {
    put('a', '1')
    put('b', '1')
    put('a', '2')
    const { perform } = faulty('late read')
    expect(seen(perform, 'QueryCommand', list)).toEqual(
      new Set(['', 'a1', 'a2', 'b1', 'a1 b1', 'a2 b1']),
    )
    expect(seen(table.perform, 'QueryCommand', list)).toEqual(new Set(['a2 b1']))
  })

  test('still sees what has left its list', () => {
    put('a', '1')
    table.perform('DeleteItemCommand', {
      TableName: 'espalier',
      Key: { pk: { S: 'row' }, sk: { S: 'a' } },
    })
    expect(seen(faulty('late read').perform, 'QueryCommand', list)).toEqual(new Set(['', 'a1']))
  })

  test('happens to no consistent read', () => {
    put('a', '1')
    const get = { TableName: 'espalier', Key: { pk: { S: 'row' }, sk: { S: 'a' } } }
    const { perform } = faulty('late read')
    expect(seen(perform, 'GetItemCommand', get)).toEqual(new Set(['', 'a1']))
    expect(seen(perform, 'GetItemCommand', { ...get, ConsistentRead: true })).toEqual(
      new Set(['a1']),
    )
  })

  test('is not later than it may be', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    put('a', '1')
    vi.setSystemTime(5_000)
    expect(seen(faulty('late read').perform, 'QueryCommand', list)).toEqual(new Set(['', 'a1']))
    vi.setSystemTime(5_001)
    expect(seen(faulty('late read').perform, 'QueryCommand', list)).toEqual(new Set(['a1']))
  })
})

describe('the SDK itself', () => {
  const request = {
    commandName: 'TransactWriteItemsCommand',
    input: addInTransaction,
    isRetry: true,
  }
  const forms = (count: number) =>
    Array.from({ length: count }, (_, index) => (index + 0.5) / count)
  const errors = [
    ...forms(5).map(share => throttlingOf(request, () => share)),
    conflictOf('PutItemCommand', {}, () => 0),
    conflictOf('TransactWriteItemsCommand', addInTransaction, () => 0),
    new InternalServerError({ message: 'Internal', $metadata: { httpStatusCode: 500 } }),
    connectionLost(),
  ]

  test.each(errors.map(error => [error.name, error] as const))(
    'tries again after %s exactly where the simulation does',
    async (name, error) => {
      vi.spyOn(Math, 'random').mockReturnValue(0)
      let requests = 0
      const server = createServer((incoming, response) => {
        requests += 1
        if (!(error instanceof DynamoDBServiceException)) return incoming.socket.destroy()
        response.writeHead(error.$metadata.httpStatusCode ?? 400)
        response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}` }))
      })
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const client = new DynamoDBClient({
        endpoint: `http://127.0.0.1:${port}`,
        region: 'us-east-1',
        credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      })
      const seen = await client
        .send(new GetItemCommand({ TableName: 'espalier', Key }))
        .catch(thrown => thrown)
      client.destroy()
      server.close()
      if (error instanceof DynamoDBServiceException)
        expect(seen.constructor).toBe(error.constructor)
      expect(requests).toBe(isRetriedBySdk(error) ? SDK_ATTEMPTS : 1)
    },
  )
})
