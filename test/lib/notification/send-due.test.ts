import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { type LogEntry, setLogSink } from '../../../lib/core/log.ts'
import { dueIndex, dueShard } from '../../../lib/data/due.ts'
import * as table from '../../../lib/data/table.ts'
import { transact } from '../../../lib/data/transact.ts'
import { startLambda } from '../../../lib/local/lambda.ts'
import { announce, NOTIFY_BATCH } from '../../../lib/notification/announce.ts'
import { deliveryKey, newDelivery } from '../../../lib/notification/delivery.ts'
import { MAX_BATCHES, sendDue } from '../../../lib/notification/send-due.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'

useLocalTable()

/** What the function that delivers is handed; it delivers nothing here. */
const events: { deliveryIds: string[] }[] = []
const logs: LogEntry[] = []
let lambda: Awaited<ReturnType<typeof startLambda>>
const clock = clockAt('2026-01-01T00:00:00.000Z')

beforeAll(async () => {
  setLogSink(entry => logs.push(entry))
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', `v1:${randomBytes(32).toString('base64')}`)
  vi.stubEnv('ESPALIER_FUNCTION_PREFIX', 'espalier-')
  const handler = async (event: unknown) => {
    events.push(event as { deliveryIds: string[] })
  }
  const notify = { handler: async () => handler, memoryMb: 128, timeoutSeconds: 5 }
  lambda = await startLambda({
    functions: name => (name === 'espalier-notify' ? notify : undefined),
  })
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', lambda.url)
})
afterAll(() => lambda.close())

const made = (sendAt?: string, id = newId('delivery')) => {
  const body = '{}'
  const event = 'task.ended' as const
  const subscriptionId = newId('subscription')
  return newDelivery({ id, subscriptionId, event, body, ...(sendAt ? { sendAt } : {}) }, clock)
}
const idsIn = async () => {
  await vi.waitFor(() => expect(lambda.inFlight()).toBe(0))
  return events.splice(0).flatMap(({ deliveryIds }) => deliveryIds)
}

it('hands on what is due, in no bigger batches than are taken, and each but once in a while', async () => {
  const due = Array.from({ length: 3 * NOTIFY_BATCH }, () => made())
  const later = made('2026-01-01T00:01:00.000Z')
  for (const write of [...due, later]) await transact([write])
  clock.set('2026-01-01T00:00:00.001Z')
  expect(await sendDue(clock)).toEqual({ handedOn: due.length })
  await vi.waitFor(() => expect(lambda.inFlight()).toBe(0))
  expect(Math.max(...events.map(({ deliveryIds }) => deliveryIds.length))).toBeLessThanOrEqual(
    NOTIFY_BATCH,
  )
  expect((await idsIn()).toSorted()).toEqual(due.map(({ key }) => key.pk).toSorted())
  expect(await sendDue(clock)).toEqual({ handedOn: 0 })
  clock.set('2026-01-01T00:01:00.001Z')
  expect(await sendDue(clock)).toEqual({ handedOn: 1 })
  expect(await idsIn()).toEqual([later.key.pk])
  // Nobody has sent them.
  clock.set('2026-01-01T00:05:00.002Z')
  expect(await sendDue(clock)).toEqual({ handedOn: due.length })
  for (const { key } of [...due, later]) await table.remove(key)
  await idsIn()
})

it('hands on so many of one shard at most, and goes on with the next sweep', async () => {
  clock.set('2026-01-02T00:00:00.000Z')
  const shard = dueIndex(`delivery_${'0'.repeat(26)}`, '').gsi3pk
  expect(shard).toBe(dueShard(0, 'unsent'))
  const most = MAX_BATCHES * NOTIFY_BATCH
  const ids = Array.from(
    { length: most + 1 },
    (_, index) => `delivery_${String(index).padStart(25, '0')}0` as Id<'delivery'>,
  )
  await Promise.all(ids.map(id => transact([made(undefined, id)])))
  clock.set('2026-01-02T00:00:00.001Z')
  expect(await sendDue(clock)).toEqual({ handedOn: most })
  expect(await sendDue(clock)).toEqual({ handedOn: 1 })
  expect(new Set(await idsIn())).toEqual(new Set(ids))
  for (const id of ids) await table.remove(deliveryKey(id))
})

it('passes over what it can’t read, and what can’t be handed on stays due', async () => {
  clock.set('2026-01-03T00:00:00.000Z')
  const [bad, good] = [made(), made()]
  await transact([bad, good])
  await table.update(z.unknown(), bad.key, { set: { status: 'SPOILT' }, remove: ['event'] })
  clock.set('2026-01-03T00:00:00.001Z')
  vi.stubEnv('ESPALIER_FUNCTION_PREFIX', 'elsewhere-')
  await expect(sendDue(clock)).rejects.toThrow()
  vi.stubEnv('ESPALIER_FUNCTION_PREFIX', 'espalier-')
  expect(await sendDue(clock)).toEqual({ handedOn: 2 })
  expect((await idsIn()).toSorted()).toEqual([bad, good].map(({ key }) => key.pk).toSorted())
})

it('announces only what is due now, and is not stopped by what it can’t reach', async () => {
  clock.set('2026-01-04T00:00:00.000Z')
  const [now, later] = [made(), made('2026-01-05T00:00:00.000Z')]
  await announce([{ check: now.key, where: {} }, now, later])
  expect(await idsIn()).toEqual([now.key.pk])
  vi.stubEnv('ESPALIER_FUNCTION_PREFIX', 'elsewhere-')
  await announce([now])
  vi.stubEnv('ESPALIER_FUNCTION_PREFIX', 'espalier-')
  expect(logs.at(-1)).toMatchObject({ level: 'warn', event: 'notices-left-to-sweeper' })
  await announce([])
  expect(await idsIn()).toEqual([])
})
