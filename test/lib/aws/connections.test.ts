import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createClient } from '../../../lib/aws/client.ts'
import * as dynamodb from '../../../lib/aws/dynamodb.ts'
import { jsonCommand } from '../../../lib/aws/json-command.ts'
import { getObject, putObject } from '../../../lib/aws/s3.ts'
import { environmentAt, startWire, type Wire } from './wire.ts'

const SILENCE_MS = 150

let wire: Wire

beforeEach(async () => {
  wire = await startWire()
  for (const [name, value] of Object.entries(environmentAt(wire.url))) vi.stubEnv(name, value)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await wire.close()
})

/** A command to the server above, whose client waits no longer than a test may. */
const command = ({ attempts = 1 } = {}) => {
  const client = createClient({
    name: 'dynamodb',
    endpoint: () => new URL(wire.url),
    attempts,
    silenceMs: SILENCE_MS,
  })
  return jsonCommand<object, { answer?: number }>(() => client, {
    target: 'Target',
    action: 'any:Command',
  })
}

const nothing = { act: () => {} }
const halfAnAnswer = {
  act: (response: ServerResponse) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"answer":')
  },
}
const key = { TableName: 'app-table', Key: { pk: { S: 'a' } } }

test.each([
  ['that says nothing', nothing],
  ['that stops within its answer', halfAnAnswer],
])(
  'a server %s is given up as a timeout, as often as attempts are allowed',
  async (_, reaction) => {
    wire.react(reaction)
    await expect(command({ attempts: 3 })({})).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(wire.requests).toHaveLength(3)
  },
)

test('a connection that was used before is watched for silence like a new one', async () => {
  const send = command()
  wire.react({ body: '{"answer":1}' })
  expect(await send({})).toEqual({ answer: 1 })
  wire.react(nothing)
  await expect(send({})).rejects.toMatchObject({ name: 'TimeoutError' })
  expect(wire.connections()).toBe(1)
})

test('an answer that takes long and is never silent for long is no timeout', async () => {
  wire.react({
    act: async response => {
      response.writeHead(200)
      for (const part of '{"answer":1}') {
        response.write(part)
        await sleep(SILENCE_MS / 4)
      }
      response.end()
    },
  })
  expect(await command()({})).toEqual({ answer: 1 })
})

test('a connection that is idle longer than a silence may be is used again', async () => {
  const send = command()
  wire.react({ body: '{"answer":1}' })
  await send({})
  await sleep(SILENCE_MS * 2)
  expect(await send({})).toEqual({ answer: 1 })
})

test('connections that the server closed while they were idle are no failure', async () => {
  const send = command({ attempts: 3 })
  wire.react({ body: '{"answer":1}' })
  await Promise.all(Array.from({ length: 20 }, () => send({})))
  wire.server.closeIdleConnections()
  expect(await send({})).toEqual({ answer: 1 })
})

test('a connection that the server closes just as it is used again is no failure', async () => {
  const send = command({ attempts: 2 })
  wire.react((_, index) =>
    index === 1 ? { act: ({ socket }) => socket?.destroy() } : { body: '{"answer":1}' },
  )
  await send({})
  expect(await send({})).toEqual({ answer: 1 })
  expect(wire.requests).toHaveLength(3)
  expect(wire.connections()).toBe(2)
})

test.each([
  ['before it is sent', nothing, 0],
  ['while nothing comes', nothing, SILENCE_MS / 3],
  ['within its answer', halfAnAnswer, SILENCE_MS / 3],
] as const)(
  'a request is given up %s by a signal, and is not tried again',
  async (_, reaction, ms) => {
    wire.react(reaction)
    const closed = new Promise<void>(resolve => {
      wire.server.on('connection', socket => socket.on('close', () => resolve()))
    })
    const abortSignal = ms === 0 ? AbortSignal.abort() : AbortSignal.timeout(ms)
    const sent = command({ attempts: 3 })({}, { abortSignal })
    await expect(sent).rejects.toMatchObject({ name: 'AbortError' })
    await sleep(SILENCE_MS)
    expect(wire.requests).toHaveLength(ms === 0 ? 0 : 1)
    if (ms > 0) await closed
  },
)

test('a wait before another attempt ends by a signal', async () => {
  // The longest wait there is, which this test would not live to see the end of.
  vi.spyOn(Math, 'random').mockReturnValue(20)
  wire.react({ status: 429 })
  const abortSignal = AbortSignal.timeout(SILENCE_MS)
  await expect(command({ attempts: 3 })({}, { abortSignal })).rejects.toMatchObject({
    name: 'AbortError',
  })
  expect(wire.requests).toHaveLength(1)
}, 15_000)

test('six megabytes go whole in either direction', async () => {
  const bytes = randomBytes(6 * 2 ** 20)
  wire.react(({ body }) => ({ body }))
  const place = { Bucket: 'app-bucket', Key: 'a' }
  await putObject({ ...place, Body: bytes, ContentType: 'video/mp4' })
  expect(wire.requests[0]?.body.equals(bytes)).toBe(true)
  wire.react({ body: bytes })
  expect(bytes.equals((await getObject(place)).Body)).toBe(true)
})

test('a hundred requests side by side get each its own answer, over fifty connections', async () => {
  wire.react(({ body }) => {
    const { Key } = JSON.parse(body.toString())
    return { body: JSON.stringify({ Item: Key }) }
  })
  const keys = Array.from({ length: 100 }, (_, index) => ({ pk: { S: `a${index}` } }))
  const answers = await Promise.all(keys.map(Key => dynamodb.getItem({ ...key, Key })))
  expect(answers.map(({ Item }) => Item)).toEqual(keys)
  expect(wire.connections()).toBeLessThanOrEqual(50)
})
