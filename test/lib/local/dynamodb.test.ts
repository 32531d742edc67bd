import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hasCode } from '../../../lib/core/errors.ts'
import { setLogSink } from '../../../lib/core/log.ts'
import { startDynamoDb } from '../../../lib/local/dynamodb.ts'

let folder: string

beforeEach(() => {
  vi.stubEnv('DYNAMODB_ENDPOINT', '')
  folder = mkdtempSync(join(tmpdir(), 'espalier-dynamodb-'))
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const clientOf = (url: string) =>
  new DynamoDBClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  })

const createTable = (client: DynamoDBClient) =>
  client.send(
    new CreateTableCommand({
      TableName: 'kept',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    }),
  )

const keysOf = async (client: DynamoDBClient): Promise<Set<string>> => {
  const keys = new Set<string>()
  for await (const page of paginateScan({ client }, { TableName: 'kept', ConsistentRead: true })) {
    for (const item of page.Items ?? []) keys.add(item.pk?.S ?? '')
  }
  return keys
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    response => response.ok,
    () => false,
  )

test('the database answers the SDK, and nothing is left of it after close', async () => {
  const db = await startDynamoDb()
  const client = clientOf(db.url)
  await createTable(client)
  expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual(['kept'])

  await db.close()
  expect(await answers(db.url)).toBe(false)
})

test('kill -9 of the process that started it ends it too, and keeps what was acknowledged', async () => {
  const file = join(folder, 'deep', 'tables.db')
  const first = await startDynamoDb({ file })
  await createTable(clientOf(first.url))
  await first.close()

  const program = new URL('./dynamodb-process.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await vi.waitFor(() => expect(output.split('\n').length).toBeGreaterThan(50), 20_000)
  child.kill('SIGKILL')
  await once(child, 'close')

  // At once, without giving the old one time to go.
  const second = await startDynamoDb({ file })
  const keys = await keysOf(clientOf(second.url))
  await second.close()

  const [url = '', ...lines] = output.split('\n')
  // What follows the last newline may be half a number.
  const acknowledged = lines.slice(0, -1)
  expect(acknowledged.length).toBeGreaterThan(40)
  expect(acknowledged.filter(number => !keys.has(number))).toEqual([])
  await vi.waitFor(async () => expect(await answers(url)).toBe(false), 2_000)
})

test('a database that dies by itself is reported, and close still ends', async () => {
  const events: string[] = []
  const restore = setLogSink(entry => events.push(entry.event))
  const onExit = vi.fn()
  const db = await startDynamoDb({ onExit })

  const { pid } = await processListeningOn(new URL(db.url).port)
  process.kill(pid, 'SIGKILL')
  await vi.waitFor(() => expect(onExit).toHaveBeenCalledOnce())
  expect(events).toEqual(['dynamodb-died'])
  await db.close()
  setLogSink(restore)
})

test('a port in use is an error that says so', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  await expect(startDynamoDb({ port })).rejects.toThrow(`${port} is already in use`)
  other.close()
})

test('DYNAMODB_ENDPOINT is used where it is set, and nothing is started', async () => {
  vi.stubEnv('DYNAMODB_ENDPOINT', 'http://127.0.0.1:1')
  const db = await startDynamoDb()
  expect(db.url).toBe('http://127.0.0.1:1')
  await db.close()
})

test('two databases in memory know nothing of each other', async () => {
  const [one, two] = await Promise.all([startDynamoDb(), startDynamoDb()])
  await createTable(clientOf(one.url))
  expect((await clientOf(two.url).send(new ListTablesCommand({}))).TableNames).toEqual([])
  await Promise.all([one.close(), two.close()])
})

test('a file that holds no database is an error with the reason', async () => {
  const error = await startDynamoDb({ file: folder }).catch((thrown: unknown) => thrown)
  expect(hasCode(error, 'INTERNAL')).toBe(true)
  expect(String(error)).toMatch(/unable to open|directory/i)
})

const processListeningOn = async (port: string): Promise<{ pid: number }> => {
  const child = spawn('sh', ['-c', `ps -eo pid,args | grep '[d]ynoxide serve.*--port ${port}'`])
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await once(child, 'close')
  const line = output.split('\n').find(text => !text.includes('/bin/sh')) ?? ''
  return { pid: Number(line.trim().split(' ')[0]) }
}

test.each<[NodeJS.Platform, boolean]>([
  ['linux', false],
  ['darwin', true],
])('on %s, that pages in a browser could reach it is a warning: %j', async (platform, isWarned) => {
  const events: string[] = []
  const previous = setLogSink(({ event }) => events.push(event))
  const real = Object.getOwnPropertyDescriptor(process, 'platform')
  Object.defineProperty(process, 'platform', { ...real, value: platform })
  try {
    const db = await startDynamoDb()
    await db.close()
    expect(new URL(db.url).hostname === '127.0.0.1').toBe(isWarned)
    expect(events.includes('dynamodb-open-to-browsers')).toBe(isWarned)
  } finally {
    Object.defineProperty(process, 'platform', { ...real })
    setLogSink(previous)
  }
})
