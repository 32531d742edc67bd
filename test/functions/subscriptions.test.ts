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
import { type Id, newId } from '../../lib/core/ids.ts'
import { MAX_EMAILS, MAX_SUBSCRIPTIONS, MAX_URL_CHARS } from '../../lib/notification/limits.ts'
import { sendDue } from '../../lib/notification/send-due.ts'
import { RATE_LIMITS } from '../../lib/principal/rate-limit.ts'
import { startReceiver } from '../lib/notification/subscribed.ts'
import {
  type CallView,
  dataOf,
  type Person,
  snapshot,
  startWorld,
  until,
  type World,
} from '../world.ts'
import { probe } from './letters.ts'

const PATH = '/api/v1/subscriptions'

type View = {
  id: Id<'subscription'>
  url: string | null
  emails: string[] | null
  events: string[]
  enabled: boolean
  version: number
  secret?: string | null
  previous_secret_until: string | null
}
type DeliveryView = {
  id: string
  event: string
  status: string
  attempts: { result: string; http_status: number | null }[]
}

let world: World
let receiver: Awaited<ReturnType<typeof startReceiver>>
let owner: Person
let agent: Id<'agent'>
/** While it is set, whoever is to deliver dies as it starts. */
let isDead = false

beforeAll(async () => {
  receiver = await startReceiver()
  vi.stubEnv('ESPALIER_FETCH_ALLOW', receiver.host)
  world = await startWorld([probe], {
    wrap: load => async module => {
      const loaded = await load(module)
      if (module !== 'workflow/notify') return loaded
      return {
        handler: async (event, context) => {
          if (isDead) throw new Error('The process died.')
          return loaded.handler(event, context)
        },
      }
    },
  })
})
beforeEach(async () => {
  await until('nothing is sent any more', async () => (world.running() === 0 ? true : undefined))
  receiver.received.length = 0
  owner = await world.createPerson(['decide'])
  agent = await world.createAgent(['probe', 'time'], { key: owner.key, name: 'Scribe' })
})
afterEach(() => {
  isDead = false
})
afterAll(async () => {
  await world.stop()
  await receiver.close()
})

const ask = (method: string, path = '', body?: unknown, headers = {}) =>
  world.request(method, PATH + path, {
    key: owner.key,
    ...(body === undefined ? {} : { body }),
    headers: { ...(['PATCH', 'DELETE'].includes(method) ? { 'if-match': '*' } : {}), ...headers },
  })
const subscribe = async (body: object = {}): Promise<View & { secret: string }> =>
  dataOf(await ask('POST', '', { name: 'Ours', url: receiver.url, ...body }))
const deliveriesOf = async (id: string) =>
  dataOf<DeliveryView[]>(await ask('GET', `/${id}/deliveries`))
const untilDelivered = (id: string, event: string) =>
  until(`${event} is delivered`, async () =>
    (await deliveriesOf(id)).find(each => each.event === event && each.status === 'DELIVERED'),
  )
const codeOf = async (answer: ReturnType<typeof ask>) => (await answer).body.error?.code

const events = () => receiver.received.map(({ body }) => JSON.parse(body).type as string)
const verified = (secret: string, index = 0) => {
  const { body = '', headers = {} } = receiver.received[index] ?? {}
  return new Webhook(secret).verify(body, headers) as { type: string; data: object }
}

describe('a webhook', () => {
  it('is told at once of the end of a task', async () => {
    const { id, secret } = await subscribe()
    const task = await world.createTask(agent, '/time now {}')
    await world.untilTask(task, 'COMPLETED')
    await untilDelivered(id, 'task.ended')
    expect(events()).toEqual(['task.ended'])
    expect(verified(secret)).toMatchObject({
      type: 'task.ended',
      data: { task_id: task, status: 'COMPLETED', path: `/api/v1/tasks/${task}` },
    })
  })

  it('is told at once of a call that waits within a task, and nothing of what it would do', async () => {
    const { id, secret } = await subscribe()
    const task = await world.createTask(agent, '/probe send {"text": "Hello"}')
    await world.untilTask(task, 'PENDING_APPROVAL')
    await untilDelivered(id, 'call.waiting')
    const { data } = verified(secret)
    expect(data).toMatchObject({ task_id: task, agent_name: 'Scribe', tool: 'probe' })
    expect(data).not.toHaveProperty('arguments')
    expect((await deliveriesOf(id)).map(({ event, status }) => [event, status])).toEqual(
      expect.arrayContaining([['call.expiring', 'PENDING']]),
    )
    const { path, call_id } = data as { path: string; call_id: string }
    const opened = dataOf<CallView>(await world.request('GET', path, { key: owner.key }))
    expect(opened).toMatchObject({ id: call_id, status: 'PENDING_APPROVAL' })
  })

  it('is told at once of a task that asks something, and not what it asks; and of its end', async () => {
    const asking = await world.createAgent(['ask_user'], { key: owner.key })
    const { id, secret } = await subscribe()
    const task = await world.createTask(asking, '/ask_user ask {"question": "a-canary-question"}')
    await world.untilTask(task, 'AWAITING_INPUT')
    await untilDelivered(id, 'call.waiting')
    expect(verified(secret)).toMatchObject({
      type: 'call.waiting',
      data: { task_id: task, waits_for: 'answer', expires_at: expect.any(String) },
    })
    const stopped = await world.request('POST', `/api/v1/tasks/${task}/cancel`, { key: owner.key })
    expect(stopped.status).toBe(200)
    await untilDelivered(id, 'task.ended')
    expect(verified(secret, 1).data).toMatchObject({ task_id: task, status: 'CANCELLED' })
    expect(receiver.received.map(({ body }) => body).join()).not.toContain('canary')
  })

  it('is told of a call outside of tasks by the next sweep', async () => {
    const { id, secret } = await subscribe({ events: ['call.waiting'] })
    const answer = await world.run(agent, 'probe.send', { text: 'Hello' }, once())
    expect(answer.status).toBe(202)
    expect(receiver.received).toEqual([])
    await sendDue()
    await untilDelivered(id, 'call.waiting')
    expect(verified(secret).data).toMatchObject({ task_id: null, tool: 'probe' })
    await sendDue()
    expect(events()).toEqual(['call.waiting'])
  })

  it('is told of what was recorded before its teller died, once', async () => {
    isDead = true
    const { id } = await subscribe()
    const task = await world.createTask(agent, '/time now {}')
    await world.untilTask(task, 'COMPLETED')
    await until('nobody tells', async () => (world.running() === 0 ? true : undefined))
    expect(await deliveriesOf(id)).toMatchObject([{ status: 'PENDING', attempts: [] }])
    isDead = false
    await sendDue()
    await untilDelivered(id, 'task.ended')
    await sendDue()
    expect(events()).toEqual(['task.ended'])
  })

  it('is told of a call that is put up again in another form', async () => {
    const { id } = await subscribe({ events: ['call.waiting'] })
    const answer = await world.run(agent, 'probe.send', { text: 'Hello' }, once())
    const { call_id, digest } = dataOf<{ call_id: string; digest: string }>(answer)
    await world.setSettings(agent, 'probe', { sender: 'Ada' })
    const refused = await world.request('POST', `/api/v1/tool-calls/${call_id}/approve`, {
      key: owner.key,
      body: { digest },
    })
    expect(refused.body.error?.code).toBe('DIGEST_MISMATCH')
    await sendDue()
    await until('both are told', async () =>
      (await deliveriesOf(id)).filter(({ status }) => status === 'DELIVERED').length === 2
        ? true
        : undefined,
    )
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.call_id)).toEqual([
      call_id,
      call_id,
    ])
  })

  it('is tested on demand, so many times a minute', async () => {
    const { id, secret } = await subscribe()
    const { delivery_id } = dataOf<{ delivery_id: string }>(await ask('POST', `/${id}/test`))
    const delivered = await untilDelivered(id, 'subscription.test')
    expect(delivered.id).toBe(delivery_id)
    expect(receiver.received[0]?.headers['webhook-id']).toBe(delivery_id)
    expect(verified(secret).type).toBe('subscription.test')
    // In one minute, however long the machine takes.
    vi.useFakeTimers({ toFake: ['Date'], now: Math.ceil(Date.now() / 60_000) * 60_000 })
    onTestFinished(() => void vi.useRealTimers())
    for (let count = 0; count < RATE_LIMITS.notice.perMinute; count++)
      expect((await ask('POST', `/${id}/test`)).status).toBe(202)
    expect((await ask('POST', `/${id}/test`)).status).toBe(429)
  })
})

describe('a secret', () => {
  it('is shown once: as it is made or rotated, and nowhere else', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const body = { name: 'Ours', url: receiver.url }
    const made = dataOf<View>(await ask('POST', '', body, headers))
    const { id, secret } = made
    if (!secret) throw new Error('There is no secret.')
    const again = await ask('POST', '', body, headers)
    expect(again.status).toBe(200)
    expect(again.body.data).toEqual({ ...made, secret: null })
    expect(await codeOf(ask('POST', '', { ...body, name: 'Other' }, headers))).toBe(
      'IDEMPOTENCY_MISMATCH',
    )
    const rotated = dataOf<{ secret: string }>(await ask('POST', `/${id}/rotate-secret`)).secret
    expect(rotated).toMatch(/^whsec_/)
    expect(rotated).not.toBe(secret)
    await ask('POST', `/${id}/test`)
    await untilDelivered(id, 'subscription.test')
    for (const each of [secret, rotated]) expect(() => verified(each)).not.toThrow()
    const answers = await Promise.all([
      ask('GET'),
      ask('GET', `/${id}`),
      ask('GET', `/${id}/deliveries`),
      ask('PATCH', `/${id}`, { name: 'Renamed' }),
      world.request('GET', `/api/v1/audit?principal_id=${owner.id}`),
    ])
    const stored = JSON.stringify(await snapshot())
    const logs = JSON.stringify(world.logs)
    for (const each of [secret, rotated].map(text => text.slice('whsec_'.length))) {
      for (const { text } of answers) expect(text).not.toContain(each)
      expect(stored).not.toContain(each)
      expect(logs).not.toContain(each)
    }
    expect(logs).not.toContain('/hook')
  })
})

describe('a subscription', () => {
  it('is listed, changed by its version, and deleted; its log says who did it', async () => {
    const { id, version } = await subscribe()
    expect((await ask('GET', `/${id}`)).headers.get('etag')).toBe(`"${version}"`)
    const changed = await ask(
      'PATCH',
      `/${id}`,
      { events: ['task.ended', 'task.ended'], enabled: false },
      { 'if-match': `"${version}"` },
    )
    expect(changed.body.data).toMatchObject({
      events: ['task.ended'],
      enabled: false,
      disabled_because: 'asked',
      version: version + 1,
      url: receiver.url,
    })
    expect(
      (await ask('PATCH', `/${id}`, { name: 'B' }, { 'if-match': `"${version}"` })).status,
    ).toBe(412)
    expect(dataOf<View[]>(await ask('GET')).map(each => each.id)).toEqual([id])
    expect((await ask('DELETE', `/${id}`, undefined, { 'if-match': `"${version}"` })).status).toBe(
      412,
    )
    expect((await ask('DELETE', `/${id}`)).body.data).toEqual({ id, deleted: true })
    expect((await ask('GET', `/${id}`)).status).toBe(404)
    const audit = await world.request('GET', `/api/v1/audit?principal_id=${owner.id}`)
    const entries = dataOf<{ action: string; by: string; target: string; to?: object }[]>(audit)
    expect(
      entries.filter(({ target }) => target === id).map(({ action, by }) => [action, by]),
    ).toEqual([
      ['subscription-deleted', owner.id],
      ['subscription-changed', owner.id],
      ['subscription-created', owner.id],
    ])
    expect(audit.text).toContain(`"url":"http://${receiver.host}"`)
    expect(audit.text).not.toContain('/hook')
  })

  it('is one of so many, and a deleted one makes room', async () => {
    const made = []
    for (let count = 0; count < MAX_SUBSCRIPTIONS; count++) made.push(await subscribe())
    const more = () => ask('POST', '', { name: 'One more', url: receiver.url })
    expect(await codeOf(more())).toBe('INVALID_STATE')
    await ask('DELETE', `/${made[0]?.id}`)
    expect((await more()).status).toBe(201)
  })

  it.each([
    ['http://example.com/hook', 'FETCH_REFUSED'],
    ['https://localhost/hook', 'FETCH_REFUSED'],
    ['https://127.0.0.1:1/hook', 'FETCH_REFUSED'],
    ['https://[::1]/hook', 'FETCH_REFUSED'],
    ['https://169.254.169.254/latest/meta-data', 'FETCH_REFUSED'],
    ['https://metadata.google.internal/', 'FETCH_REFUSED'],
    ['https://2130706433/', 'FETCH_REFUSED'],
    ['https://user:password@example.com/', 'FETCH_REFUSED'],
    ['ftp://example.com/', 'VALIDATION_ERROR'],
  ])('is refused at %s', async (url, code) => {
    const { id } = await subscribe()
    for (const answer of [
      await ask('POST', '', { name: 'A', url }),
      await ask('PATCH', `/${id}`, { url }),
    ]) {
      expect(answer.body.error?.code).toBe(code)
      expect(answer.text).not.toContain('password@')
    }
    expect(dataOf<View[]>(await ask('GET'))).toHaveLength(1)
  })

  it('has an address of so many characters at most', async () => {
    const url = `https://example.com/${'a'.repeat(MAX_URL_CHARS - 'https://example.com/'.length)}`
    expect(await codeOf(ask('POST', '', { name: 'A', url: `${url}a` }))).toBe('VALIDATION_ERROR')
    expect((await ask('POST', '', { name: 'A', url })).status).toBe(201)
  })

  it('has one kind of place, and stays of that kind', async () => {
    vi.stubEnv('ESPALIER_EMAIL_SENDER', 'notices@example.org')
    const emails = ['ada@example.org']
    const both = { name: 'A', url: receiver.url, emails }
    expect(await codeOf(ask('POST', '', both))).toBe('VALIDATION_ERROR')
    expect(await codeOf(ask('POST', '', { name: 'A' }))).toBe('VALIDATION_ERROR')
    const { id } = await subscribe()
    expect(await codeOf(ask('PATCH', `/${id}`, { emails }))).toBe('VALIDATION_ERROR')
    vi.stubEnv('ESPALIER_EMAIL_SENDER', undefined)
  })

  it('of another principal’s is for its keepers alone', async () => {
    const principal_id = newId('group')
    expect(await codeOf(ask('POST', '', { name: 'A', url: receiver.url, principal_id }))).toBe(
      'NOT_FOUND',
    )
    const { id } = await subscribe()
    const stranger = await world.createPerson()
    const answer = await world.request('GET', `${PATH}/${id}`, { key: stranger.key })
    expect(answer.status).toBe(404)
  })
})

describe('e-mail addresses', () => {
  const addresses = (count: number) =>
    Array.from({ length: count }, (_, index) => `a${index}@example.org`)

  it('are NOT_CONFIGURED where the instance has no sender', async () => {
    const answer = await ask('POST', '', { name: 'A', emails: addresses(1) })
    expect(answer.body.error).toMatchObject({
      code: 'NOT_CONFIGURED',
      message: expect.stringContaining('ESPALIER_EMAIL_SENDER'),
    })
  })

  it('are so many at most, and get what webhooks get, without a secret', async () => {
    vi.stubEnv('ESPALIER_EMAIL_SENDER', 'notices@example.org')
    const tooMany = { name: 'A', emails: addresses(MAX_EMAILS + 1) }
    expect(await codeOf(ask('POST', '', tooMany))).toBe('VALIDATION_ERROR')
    const made = dataOf<View>(await ask('POST', '', { name: 'A', emails: addresses(MAX_EMAILS) }))
    expect(made).toMatchObject({ url: null, secret: null })
    expect(await codeOf(ask('POST', `/${made.id}/rotate-secret`))).toBe('INVALID_STATE')
    const task = await world.createTask(agent, 'Hello')
    await world.untilTask(task, 'COMPLETED')
    await untilDelivered(made.id, 'task.ended')
    const told = world.logs.find(({ event }) => event === 'email-not-sent-locally')
    expect(told).toMatchObject({ addresses: MAX_EMAILS })
    expect(JSON.stringify(told)).not.toContain('@')
    expect(JSON.stringify(told)).not.toContain(task)
    vi.stubEnv('ESPALIER_EMAIL_SENDER', undefined)
  })
})

const once = () => ({ headers: { 'idempotency-key': crypto.randomUUID() } })
