import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
  vi,
} from 'vitest'
import * as z from 'zod'
import { listAudit } from '../../../lib/audit/audit.ts'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { type LogEntry, setLogSink } from '../../../lib/core/log.ts'
import { DUE_SHARDS, listDue } from '../../../lib/data/due.ts'
import * as table from '../../../lib/data/table.ts'
import { transact } from '../../../lib/data/transact.ts'
import { deleteSubscription, updateSubscription } from '../../../lib/notification/change.ts'
import { deliver } from '../../../lib/notification/deliver.ts'
import { type Delivery, deliveryKey, getDelivery } from '../../../lib/notification/delivery.ts'
import {
  JITTER,
  KEPT_DAYS,
  MAX_ATTEMPTS,
  MAX_FAILURES,
  PAUSES_MS,
  ROTATION_HOURS,
} from '../../../lib/notification/limits.ts'
import { outboxWrites } from '../../../lib/notification/outbox.ts'
import { recordTest } from '../../../lib/notification/record-test.ts'
import { rotateSecret } from '../../../lib/notification/rotate-secret.ts'
import { getSubscription, type Subscription } from '../../../lib/notification/subscription.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'
import { callOf, startReceiver, subscribe, taskOf } from './subscribed.ts'

useLocalTable()

let receiver: Awaited<ReturnType<typeof startReceiver>>
const logs: LogEntry[] = []
const START = Date.now()
const at = (milliseconds: number) => new Date(START + milliseconds).toISOString()
const clock = clockAt(at(0))

beforeAll(async () => {
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', `v1:${randomBytes(32).toString('base64')}`)
  setLogSink(entry => logs.push(entry))
  receiver = await startReceiver()
  vi.stubEnv('ESPALIER_FETCH_ALLOW', receiver.host)
})
beforeEach(() => {
  clock.set(at(0))
  receiver.received.length = 0
  receiver.answer(() => ({ status: 204 }))
})
afterEach(() => {
  vi.restoreAllMocks()
})
afterAll(() => receiver.close())

const stillWaits = async () => true
const send = (id: Id<'delivery'>) => deliver(id, { stillWaits, clock })

/** The end of a task, recorded for a webhook. */
const recorded = async (fields: Parameters<typeof subscribe>[1] = {}) => {
  const user = newId('user')
  const { subscription, secret } = await subscribe(user, { url: receiver.url, ...fields }, clock)
  return { user, subscription, secret, id: await another(subscription) }
}

const another = async ({ principalId }: Subscription): Promise<Id<'delivery'>> => {
  const [write] = await outboxWrites({ type: 'task.ended', task: taskOf(principalId) }, clock)
  if (!write || !('insert' in write)) throw new Error('Nothing was recorded.')
  await transact([write])
  return (write.insert as Delivery).id
}

const stateOf = async (id: Id<'delivery'>): Promise<Delivery> => {
  const delivery = await getDelivery(id)
  if (!delivery) throw new Error('It is gone.')
  return delivery
}

const isDue = async (id: Id<'delivery'>, before: string) => {
  const shards = Array.from({ length: DUE_SHARDS }, (_, shard) =>
    listDue(shard, before, 1_000, 'unsent'),
  )
  return (await Promise.all(shards)).flat().some(({ pk }) => pk === id)
}
const NEVER = '9999-01-01T00:00:00.000Z'

describe('a delivery', () => {
  it('arrives once, signed, and is over', async () => {
    const { id, secret } = await recorded()
    await send(id)
    await send(id)
    expect(receiver.received).toHaveLength(1)
    const [{ headers, body, url } = { headers: {}, body: '', url: '' }] = receiver.received
    expect(url).toBe('/hook')
    expect(headers).toMatchObject({ 'webhook-id': id, 'content-type': 'application/json' })
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({
      type: 'task.ended',
      timestamp: at(0),
      data: { status: 'COMPLETED' },
    })
    expect(await stateOf(id)).toMatchObject({
      status: 'DELIVERED',
      attempts: [{ at: at(0), result: 'delivered', httpStatus: 204 }],
      endedAt: at(0),
    })
    // Nobody needs what it said any more.
    expect((await stateOf(id)).body).toBeUndefined()
    expect(await isDue(id, NEVER)).toBe(false)
  })

  it('is sent by one of those who begin at once', async () => {
    const { id } = await recorded()
    await Promise.all(Array.from({ length: 8 }, () => send(id)))
    expect(receiver.received).toHaveLength(1)
  })

  it('arrives once more, with the same id and body, where its process died after it was sent', async () => {
    const { id, secret } = await recorded()
    const { revive } = dieAfter('attempts', 2)
    await expect(send(id)).rejects.toThrow('died')
    revive()
    expect(await stateOf(id)).toMatchObject({
      status: 'PENDING',
      attempts: [{ result: 'unknown' }],
    })
    await send(id)
    expect(receiver.received).toHaveLength(1)
    clock.set(at(2 * PAUSES_MS[0]))
    await send(id)
    await send(id)
    expect(receiver.received).toHaveLength(2)
    const [first, second] = receiver.received
    expect(second?.body).toBe(first?.body)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature'])
    expect(() =>
      new Webhook(secret).verify(second?.body ?? '', second?.headers ?? {}),
    ).not.toThrow()
    expect(await stateOf(id)).toMatchObject({
      status: 'DELIVERED',
      attempts: [{ result: 'unknown' }, { result: 'delivered' }],
    })
  })

  it('is noted by the attempt that goes on alone: a late answer changes nothing', async () => {
    const { id } = await recorded()
    // The first attempt hangs in its receiver while its pause goes by and the next one arrives.
    receiver.answer(count => (count === 1 ? 'hang' : { status: 204 }))
    const first = send(id)
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1))
    clock.set(at(2 * PAUSES_MS[0]))
    await send(id)
    const ended = await stateOf(id)
    expect(ended).toMatchObject({ status: 'DELIVERED' })
    receiver.cut()
    await first
    expect(await stateOf(id)).toEqual(ended)
  })

  it('that has arrived is not undone by what an earlier attempt is told late', async () => {
    const { id, subscription } = await recorded()
    receiver.answer(count => (count === 1 ? 'hang' : { status: 204 }))
    const first = send(id)
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1))
    clock.set(at(2 * PAUSES_MS[0]))
    await send(id)
    const ended = await stateOf(id)
    expect(ended).toMatchObject({ status: 'DELIVERED' })
    receiver.release(410)
    await first
    expect(await stateOf(id)).toEqual(ended)
    expect(await getSubscription(subscription.id)).toMatchObject({ disabledBecause: 'gone' })
  })

  it('is tried again after growing pauses for about a day, and given up then', async () => {
    receiver.answer(() => ({ status: 500 }))
    const { id } = await recorded()
    let now = 0
    for (const [index, pause] of [...PAUSES_MS, undefined].entries()) {
      clock.set(at(now))
      await send(id)
      await send(id)
      expect(receiver.received).toHaveLength(index + 1)
      const { status, nextAt } = await stateOf(id)
      expect(status).toBe(pause === undefined ? 'FAILED' : 'PENDING')
      if (pause === undefined) break
      const next = Date.parse(nextAt) - START
      expect(next - now).toBeGreaterThanOrEqual(pause)
      expect(next - now).toBeLessThanOrEqual(pause * (1 + JITTER))
      expect(await isDue(id, at(next))).toBe(false)
      expect(await isDue(id, at(next + 1))).toBe(true)
      // Not a moment before.
      clock.set(at(next - 1))
      await send(id)
      expect(receiver.received).toHaveLength(index + 1)
      now = next
    }
    const { attempts } = await stateOf(id)
    expect(attempts).toHaveLength(MAX_ATTEMPTS)
    expect(
      attempts.every(({ result, httpStatus }) => result === 'status' && httpStatus === 500),
    ).toBe(true)
    expect(now / 3_600_000).toBeGreaterThan(23)
    expect(now / 3_600_000).toBeLessThan(27)
    expect(await isDue(id, NEVER)).toBe(false)
  })

  it('is given up where its last attempt died, too', async () => {
    const { id } = await recorded()
    const attempts = Array.from({ length: MAX_ATTEMPTS }, () => ({
      at: at(0),
      result: 'unknown' as const,
    }))
    await table.update(z.unknown(), deliveryKey(id), { set: { attempts } })
    await send(id)
    expect(receiver.received).toHaveLength(0)
    expect(await stateOf(id)).toMatchObject({ status: 'FAILED' })
  })

  it.each([301, 302, 307, 400, 401, 404, 429, 502])(
    'that is answered with %i is tried again',
    async status => {
      receiver.answer(() => ({
        status,
        headers: { location: `http://${receiver.host}/elsewhere` },
      }))
      const { id } = await recorded()
      await send(id)
      expect(receiver.received.map(({ url }) => url)).toEqual(['/hook'])
      expect(await stateOf(id)).toMatchObject({
        status: 'PENDING',
        attempts: [{ result: 'status', httpStatus: status }],
      })
    },
  )

  it('waits as long as its receiver asks, up to a limit', async () => {
    for (const [asked, hours] of [
      ['7200', 2],
      ['864000', 8],
    ] as const) {
      receiver.answer(() => ({ status: 429, headers: { 'retry-after': asked } }))
      const { id } = await recorded()
      await send(id)
      expect((await stateOf(id)).nextAt).toBe(at(hours * 3_600_000))
    }
  })

  it('to nobody who listens is tried again', async () => {
    const nobody = await startReceiver()
    await nobody.close()
    vi.stubEnv('ESPALIER_FETCH_ALLOW', `${receiver.host}, ${nobody.host}`)
    const { id } = await recorded({ url: nobody.url })
    await send(id)
    expect(await stateOf(id)).toMatchObject({
      status: 'PENDING',
      attempts: [{ result: 'unreachable' }],
    })
  })

  it('is never sent inside, whatever the address was when it was given', async () => {
    const { id } = await recorded()
    vi.stubEnv('ESPALIER_FETCH_ALLOW', '')
    await send(id)
    for (const url of [
      'http://example.com/hook',
      'https://169.254.169.254/latest',
      `https://${receiver.host}/`,
    ]) {
      const inside = await recorded({ url })
      await send(inside.id)
      expect(await stateOf(inside.id)).toMatchObject({ attempts: [{ result: 'refused' }] })
    }
    vi.stubEnv('ESPALIER_FETCH_ALLOW', receiver.host)
    expect(receiver.received).toEqual([])
    expect(await stateOf(id)).toMatchObject({ attempts: [{ result: 'refused' }] })
  })

  it('is not kept by a receiver that never answers', { timeout: 30_000 }, async () => {
    receiver.answer(count => (count === 1 ? 'hang' : { status: 204 }))
    const slow = await recorded()
    const first = send(slow.id)
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1))
    const quick = await recorded()
    await send(quick.id)
    expect(await stateOf(quick.id)).toMatchObject({ status: 'DELIVERED' })
    expect(await stateOf(slow.id)).toMatchObject({ status: 'PENDING' })
    await first
    expect(await stateOf(slow.id)).toMatchObject({ attempts: [{ result: 'unreachable' }] })
  })

  it('is kept for a month', async () => {
    const { id } = await recorded()
    const { ttl } = (await table.get(z.object({ ttl: z.int() }), deliveryKey(id))) ?? { ttl: 0 }
    expect(ttl * 1_000 - START).toBeGreaterThanOrEqual(KEPT_DAYS * 86_400_000)
    expect(ttl * 1_000 - START).toBeLessThan(KEPT_DAYS * 86_400_000 + 1_000)
  })
})

describe('a delivery is dropped', () => {
  const expiring = async () => {
    const user = newId('user')
    await subscribe(user, { url: receiver.url, events: ['call.expiring'] }, clock)
    const call = callOf(user, { approvalExpiresAt: at(4 * 3_600_000) })
    const writes = await outboxWrites({ type: 'call.waiting', call }, clock)
    await transact(writes)
    const [write] = writes
    return {
      call,
      id: (write && 'insert' in write ? (write.insert as Delivery) : { id: newId('delivery') }).id,
    }
  }

  it('where the call that is to expire waits no more; not before its time, and not where it does', async () => {
    const [kept, gone] = [await expiring(), await expiring()]
    clock.set(at(3 * 3_600_000 - 1))
    await send(kept.id)
    expect(receiver.received).toEqual([])
    clock.set(at(3 * 3_600_000))
    const asked: unknown[] = []
    const waitsNoMore = async (call: unknown) => {
      asked.push(call)
      return false
    }
    await deliver(gone.id, { stillWaits: waitsNoMore, clock })
    expect(asked).toEqual([{ callId: gone.call.id, digest: gone.call.digest }])
    expect(await stateOf(gone.id)).toMatchObject({
      status: 'DROPPED',
      droppedBecause: 'waits-no-more',
    })
    await send(kept.id)
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.call_id)).toEqual([
      kept.call.id,
    ])
  })

  it('where its subscription is disabled or deleted', async () => {
    const off = await recorded()
    await updateSubscription(off.subscription, { isEnabled: false }, { by: off.user })
    await send(off.id)
    expect(await stateOf(off.id)).toMatchObject({ status: 'DROPPED', droppedBecause: 'disabled' })
    const gone = await recorded()
    await deleteSubscription(gone.subscription, { by: gone.user })
    await send(gone.id)
    expect(await stateOf(gone.id)).toMatchObject({ status: 'DROPPED', droppedBecause: 'deleted' })
    expect(receiver.received).toEqual([])
  })
})

describe('a subscription', () => {
  const actionsOf = async (user: Id<'user'>) =>
    (await listAudit(user, { limit: 100 })).items.map(({ action, by, to }) => ({ action, by, to }))

  it('is disabled by 410 Gone, which its log tells; its other deliveries are dropped', async () => {
    receiver.answer(() => ({ status: 410 }))
    const { id, subscription, user } = await recorded()
    const later = await another(subscription)
    await send(id)
    await send(later)
    expect(receiver.received).toHaveLength(1)
    expect(await stateOf(id)).toMatchObject({ status: 'FAILED' })
    expect(await stateOf(later)).toMatchObject({ status: 'DROPPED' })
    expect(await getSubscription(subscription.id)).toMatchObject({
      disabledBecause: 'gone',
      version: 2,
    })
    expect(await actionsOf(user)).toContainEqual({
      action: 'subscription-disabled',
      by: subscription.id,
      to: { because: 'gone' },
    })
    expect(await outboxWrites({ type: 'task.ended', task: taskOf(user) }, clock)).toEqual([])
  })

  it('is disabled once so many deliveries in a row were given up, and not one before', async () => {
    const { subscription } = await recorded()
    const giveUp = async () => {
      const id = await another(subscription)
      const attempts = Array.from({ length: MAX_ATTEMPTS }, () => ({ at: at(0), result: 'status' }))
      await table.update(z.unknown(), deliveryKey(id), { set: { attempts } })
      await send(id)
    }
    const current = () => getSubscription(subscription.id)
    await giveUp()
    expect((await current()).failures).toBe(1)
    await send(await another(subscription))
    expect((await current()).failures).toBe(0)
    for (let count = 1; count < MAX_FAILURES; count++) await giveUp()
    expect((await current()).disabledBecause).toBeUndefined()
    await giveUp()
    expect((await current()).disabledBecause).toBe('failing')
    await updateSubscription(await current(), { isEnabled: true }, { by: newId('user') })
    expect(await current()).toMatchObject({ failures: 0 })
    expect((await current()).disabledBecause).toBeUndefined()
  })

  it('is tried once by a test, also while it is disabled', async () => {
    receiver.answer(count => ({ status: count === 1 ? 500 : 204 }))
    const { subscription, user, secret } = await recorded()
    await updateSubscription(subscription, { isEnabled: false }, { by: user })
    const [failing, working] = [
      await recordTest(subscription, { clock }),
      await recordTest(subscription, { clock }),
    ]
    await send(failing.id)
    await send(working.id)
    expect(await stateOf(failing.id)).toMatchObject({ status: 'FAILED' })
    expect((await getSubscription(subscription.id)).failures).toBe(0)
    expect(await stateOf(working.id)).toMatchObject({ status: 'DELIVERED' })
    const { headers = {}, body = '' } = receiver.received[1] ?? {}
    expect(new Webhook(secret).verify(body, headers)).toEqual({
      type: 'subscription.test',
      timestamp: at(0),
      data: { subscription_id: subscription.id, principal_id: user },
    })
  })

  it('signs with the secret before as well for a day after it got another', async () => {
    const { id, subscription, secret, user } = await recorded()
    const rotated = await rotateSecret(subscription, { by: user, clock })
    const verifies = (index: number, by = '') => {
      const { headers = {}, body = '' } = receiver.received[index] ?? {}
      // The library takes times of now alone, and these are not.
      const webhook = new Webhook(by)
      const said = webhook.sign(
        headers['webhook-id'] ?? '',
        new Date(Number(headers['webhook-timestamp']) * 1_000),
        body,
      )
      return headers['webhook-signature']?.split(' ').includes(said)
    }
    await send(id)
    expect([verifies(0, secret), verifies(0, rotated?.secret)]).toEqual([true, true])
    const last = await another(subscription)
    clock.set(at(ROTATION_HOURS * 3_600_000 - 1))
    await send(last)
    expect([verifies(1, secret), verifies(1, rotated?.secret)]).toEqual([true, true])
    clock.set(at(ROTATION_HOURS * 3_600_000))
    await send(await another(subscription))
    expect([verifies(2, secret), verifies(2, rotated?.secret)]).toEqual([false, true])
  })

  it('whose secret no key opens says so, and sends nothing unsigned', async () => {
    const { id } = await recorded()
    vi.stubEnv('ESPALIER_SETTINGS_KEYS', `v2:${randomBytes(32).toString('base64')}`)
    await send(id)
    expect(receiver.received).toEqual([])
    expect(await stateOf(id)).toMatchObject({ attempts: [{ result: 'secret-unreadable' }] })
  })
})

it('keeps addresses, answers and secrets out of the log and out of what is stored of a delivery', async () => {
  expect(logs.length).toBeGreaterThan(10)
  const text = JSON.stringify(logs)
  for (const secret of ['/hook', 'whsec_', 'canary', 'v1,']) expect(text).not.toContain(secret)
})

/** The process dies in its n-th update that writes an attribute. */
const dieAfter = (attribute: string, count: number): { revive: () => void } => {
  let seen = 0
  const layer = { step: 'initialize', name: 'dying', override: true } as const
  const { middlewareStack } = dynamodb()
  middlewareStack.add(
    (next, { commandName }) =>
      async args => {
        const { ExpressionAttributeNames: names } = args.input as {
          ExpressionAttributeNames?: object
        }
        if (commandName === 'UpdateItemCommand' && Object.values(names ?? {}).includes(attribute))
          seen += 1
        if (seen >= count) throw new Error('The process died.')
        return next(args)
      },
    layer,
  )
  onTestFinished(() => middlewareStack.remove(layer.name))
  return { revive: () => middlewareStack.remove(layer.name) }
}
