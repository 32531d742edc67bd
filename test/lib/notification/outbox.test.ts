import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newId } from '../../../lib/core/ids.ts'
import { transact } from '../../../lib/data/transact.ts'
import { currentUsage } from '../../../lib/data/usage.ts'
import { updateSubscription } from '../../../lib/notification/change.ts'
import { Delivery, getDelivery, listDeliveries } from '../../../lib/notification/delivery.ts'
import { EVENTS } from '../../../lib/notification/event.ts'
import { MAX_SUBSCRIPTIONS, MIN_EXPIRING_MS } from '../../../lib/notification/limits.ts'
import type { Notice } from '../../../lib/notification/notice.ts'
import { outboxWrites } from '../../../lib/notification/outbox.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'
import { callOf, subscribe, taskOf } from './subscribed.ts'

useLocalTable()
beforeAll(() => {
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', `v1:${randomBytes(32).toString('base64')}`)
})

const clock = clockAt('2026-01-01T00:00:00.000Z')

const question = { text: 'a canary of a question', until: '2026-01-02T00:00:00.000Z' }

const requestsOf = async (work: () => Promise<unknown>) => {
  const { requests } = currentUsage()
  await work()
  return currentUsage().requests - requests
}

/** What would be sent, by event. */
const told = async (notice: Notice) =>
  (await outboxWrites(notice, clock)).map(write =>
    Delivery.parse('insert' in write && write.insert),
  )
const eventsOf = async (notice: Notice) => (await told(notice)).map(({ event }) => event)

describe('what is recorded', () => {
  it('is nothing, after one read, where nobody listens', async () => {
    const call = callOf(newId('user'))
    const count = await requestsOf(async () =>
      expect(await outboxWrites({ type: 'call.waiting', call }, clock)).toEqual([]),
    )
    expect(count).toBe(1)
  })

  it('is nothing, without any read, of what is not for people', async () => {
    const user = newId('user')
    await subscribe(user)
    const notices: Notice[] = [
      { type: 'task.ended', task: taskOf(user, { parentId: newId('task') }) },
      ...(['REQUESTED', 'APPROVED', 'STARTED', 'COMPLETED', 'EXPIRED'] as const).map(status => ({
        type: 'call.waiting' as const,
        call: callOf(user, { status }),
      })),
      {
        type: 'call.waiting',
        call: callOf(user, { status: 'COMPLETED', question, answer: { json: '{}' } }),
      },
    ]
    const count = await requestsOf(async () => {
      for (const notice of notices) expect(await outboxWrites(notice, clock)).toEqual([])
    })
    expect(count).toBe(0)
  })

  it('is what each subscription asks for, of its own principal alone', async () => {
    const [user, other] = [newId('user'), newId('user')]
    const { subscription: calls } = await subscribe(user, { events: ['call.waiting'] })
    const { subscription: ends } = await subscribe(user, { events: ['task.ended'] })
    await subscribe(other)
    const waiting = await told({ type: 'call.waiting', call: callOf(user) })
    expect(waiting.map(({ subscriptionId }) => subscriptionId)).toEqual([calls.id])
    const ended = await told({ type: 'task.ended', task: taskOf(user) })
    expect(ended.map(({ subscriptionId }) => subscriptionId)).toEqual([ends.id])
    const asking = callOf(user, { status: 'COMPLETED', question })
    expect(await eventsOf({ type: 'call.waiting', call: asking })).toEqual(['call.waiting'])
  })

  it('is nothing more from when a subscription is disabled, and again from when it is enabled', async () => {
    const user = newId('user')
    const { subscription } = await subscribe(user)
    const notice = () => eventsOf({ type: 'task.ended', task: taskOf(user) })
    expect(await notice()).toEqual(['task.ended'])
    const off = await updateSubscription(subscription, { isEnabled: false }, { by: user })
    expect(await notice()).toEqual([])
    if (!off) throw new Error('It was not changed.')
    await updateSubscription(off, { isEnabled: true, events: ['call.waiting'] }, { by: user })
    expect(await notice()).toEqual([])
    expect(await eventsOf({ type: 'call.waiting', call: callOf(user) })).toEqual(['call.waiting'])
  })

  it('is told of once, however often it is asked for; a new form or a new life is told of anew', async () => {
    const user = newId('user')
    await subscribe(user)
    const call = callOf(user)
    const notice: Notice = { type: 'call.waiting', call }
    const first = await outboxWrites(notice, clock)
    expect((await transact(first)).ok).toBe(true)
    expect(await outboxWrites(notice, clock)).toEqual([])
    const again = { ...call, approvalExpiresAt: '2026-01-06T00:00:00.000Z' }
    expect(await eventsOf({ type: 'call.waiting', call: again })).toEqual([
      'call.waiting',
      'call.expiring',
    ])
    const task = taskOf(user)
    await transact(await outboxWrites({ type: 'task.ended', task }, clock))
    expect(await eventsOf({ type: 'task.ended', task })).toEqual([])
    expect(await eventsOf({ type: 'task.ended', task: { ...task, generation: 2 } })).toEqual([
      'task.ended',
    ])
    const asking: Notice = {
      type: 'call.waiting',
      call: callOf(user, { status: 'COMPLETED', question }),
    }
    await transact(await outboxWrites(asking, clock))
    expect(await eventsOf(asking)).toEqual([])
  })

  it('is there with the move or not at all', async () => {
    const user = newId('user')
    const { subscription } = await subscribe(user)
    const writes = await outboxWrites({ type: 'task.ended', task: taskOf(user) }, clock)
    const failing = { check: { pk: 'nobody', sk: 'nothing' }, where: { status: 'RUNNING' } }
    expect(await transact([failing, ...writes])).toEqual({ ok: false, failed: [0] })
    expect((await listDeliveries(subscription.id, { limit: 10 })).items).toEqual([])
    expect((await transact(writes)).ok).toBe(true)
    const { items } = await listDeliveries(subscription.id, { limit: 10 })
    expect(items).toHaveLength(1)
    expect(await getDelivery(items[0]?.id ?? newId('delivery'))).toMatchObject({
      status: 'PENDING',
      attempts: [],
    })
  })

  it('fits into one transaction for as many subscriptions as there may be, and one more is refused', async () => {
    const user = newId('user')
    for (let count = 0; count < MAX_SUBSCRIPTIONS; count++) await subscribe(user)
    await expect(subscribe(user)).rejects.toMatchObject({ code: 'INVALID_STATE' })
    const writes = await outboxWrites({ type: 'call.waiting', call: callOf(user) }, clock)
    expect(writes).toHaveLength(2 * MAX_SUBSCRIPTIONS)
    expect((await transact(writes)).ok).toBe(true)
  })
})

describe('the time before a wait expires', () => {
  const sentAt = async (approvalExpiresAt: string) => {
    const user = newId('user')
    await subscribe(user, { events: ['call.expiring'] })
    const [delivery] = await told({
      type: 'call.waiting',
      call: callOf(user, { approvalExpiresAt }),
    })
    return { sentAt: delivery?.nextAt, says: JSON.parse(delivery?.body ?? '{}').timestamp }
  }

  it('is a quarter of it', async () => {
    const at = '2026-01-03T06:00:00.000Z'
    expect(await sentAt('2026-01-04T00:00:00.000Z')).toEqual({ sentAt: at, says: at })
  })

  it('is ten minutes of a shorter one, and none of one that is no longer than that', async () => {
    expect(MIN_EXPIRING_MS).toBe(600_000)
    expect((await sentAt('2026-01-01T00:40:00.000Z')).sentAt).toBe('2026-01-01T00:30:00.000Z')
    expect((await sentAt('2026-01-01T00:30:00.000Z')).sentAt).toBe('2026-01-01T00:20:00.000Z')
    expect((await sentAt('2026-01-01T00:10:00.001Z')).sentAt).toBe('2026-01-01T00:00:00.001Z')
    expect((await sentAt('2026-01-01T00:10:00.000Z')).sentAt).toBe('2026-01-01T00:00:00.000Z')
    expect((await sentAt('2026-01-01T00:05:00.000Z')).sentAt).toBe('2026-01-01T00:00:00.000Z')
  })

  it('is none where a person is to say what came of a call', async () => {
    const user = newId('user')
    await subscribe(user)
    const call = callOf(user, { status: 'UNKNOWN' })
    const [delivery, ...more] = await told({ type: 'call.waiting', call })
    expect(more).toEqual([])
    expect(JSON.parse(delivery?.body ?? '').data).toMatchObject({
      status: 'UNKNOWN',
      expires_at: null,
    })
  })
})

it('tells ids, names, states and times, and nothing of what was asked or answered', async () => {
  const user = newId('user')
  await subscribe(user)
  const call = callOf(user, { taskId: newId('task'), rootId: newId('task') })
  const [waiting, expiring] = await told({ type: 'call.waiting', call, agentName: 'Ada' })
  const data = {
    call_id: call.id,
    status: 'PENDING_APPROVAL',
    waits_for: 'decision',
    tool: 'letters',
    operation: 'send',
    description: 'Send a letter to Ada',
    agent_id: call.agentId,
    agent_name: 'Ada',
    principal_id: user,
    task_id: call.taskId,
    root_task_id: call.rootId,
    expires_at: call.approvalExpiresAt,
    path: `/api/v1/tool-calls/${call.id}`,
  }
  const timestamp = '2026-01-01T00:00:00.000Z'
  expect(JSON.parse(waiting?.body ?? '')).toEqual({ type: 'call.waiting', timestamp, data })
  expect(JSON.parse(expiring?.body ?? '')).toMatchObject({ type: 'call.expiring', data })
  const task = taskOf(user, { status: 'FAILED', error: { code: 'STALLED' } })
  const [ended] = await told({ type: 'task.ended', task })
  expect(JSON.parse(ended?.body ?? '')).toEqual({
    type: 'task.ended',
    timestamp,
    data: {
      task_id: task.id,
      status: 'FAILED',
      agent_id: task.agentId,
      principal_id: user,
      root_task_id: task.id,
      parent_task_id: null,
      error_code: 'STALLED',
      handed_over_to: null,
      path: `/api/v1/tasks/${task.id}`,
    },
  })
  const asking = callOf(user, { status: 'COMPLETED', question })
  const [asked] = await told({ type: 'call.waiting', call: asking })
  expect(JSON.parse(asked?.body ?? '').data).toMatchObject({
    call_id: asking.id,
    waits_for: 'answer',
    expires_at: question.until,
  })
  for (const delivery of [waiting, expiring, ended, asked])
    expect(JSON.stringify(delivery)).not.toContain('canary')
  expect(EVENTS).toEqual(
    expect.arrayContaining([waiting, expiring, ended, asked].map(delivery => delivery?.event)),
  )
})
