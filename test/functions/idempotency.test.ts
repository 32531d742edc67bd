import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { callKey, ToolCall } from '../../lib/call/tool-call.ts'
import type { Id } from '../../lib/core/ids.ts'
import * as table from '../../lib/data/table.ts'
import { MAX_IDEMPOTENCY_KEY_CHARS } from '../../lib/http/request.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { dataOf, snapshot, startWorld, until, type World } from '../world.ts'

let runs = 0
let isHeld = false
let letGo = () => {}
const execute = async ({ parameters }: { parameters: { text: string } }) => {
  runs += 1
  if (isHeld) await new Promise<void>(resolve => (letGo = resolve))
  if (parameters.text === 'fail') throw new Error('It failed.')
  return `Sent ${parameters.text}`
}
const operation = {
  parameters: z.object({ text: z.string(), copies: z.int().default(1) }),
  describe: () => 'Send',
  execute,
}
const probe = defineTool({
  name: 'probe',
  description: 'Sends.',
  operations: {
    once: { ...operation, description: 'Once.' },
    again: { ...operation, description: 'The same again.', effect: 'idempotent' },
  },
})

let world: World
let agent: string
let other: string

beforeAll(async () => {
  world = await startWorld([probe])
  agent = await world.createAgent(['probe'])
  other = await world.createAgent(['probe'])
})
afterAll(() => world.stop())

const send = (
  key: string | undefined,
  body: object,
  {
    as = agent,
    operation: name = 'once',
    token,
  }: { as?: string; operation?: string; token?: string } = {},
) =>
  world.run(as, `probe.${name}`, body, {
    ...(token ? { key: token } : {}),
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  })

const idOf = (answer: { body: { data?: unknown } }) =>
  (answer.body.data as { call_id: Id<'call'> }).call_id

describe('an operation under an Idempotency-Key', () => {
  it('runs once, and answers the same to the same request', async () => {
    const before = runs
    const first = await send('same', { text: 'a' })
    const second = await send('same', { text: 'a' })
    expect(first.status).toBe(200)
    expect(second.status).toBe(200)
    expect(second.body).toEqual(first.body)
    expect(runs).toBe(before + 1)
  })

  it('takes an argument that was left out for its default', async () => {
    const first = await send('default', { text: 'a' })
    expect((await send('default', { copies: 1, text: 'a' })).body).toEqual(first.body)
  })

  it('answers an error as often as it is asked, and does not try again', async () => {
    const before = runs
    const first = await send('error', { text: 'fail' })
    expect(first.body.data).toMatchObject({
      status: 'FAILED',
      is_error: true,
      content: 'It failed.',
    })
    expect((await send('error', { text: 'fail' })).body).toEqual(first.body)
    expect(runs).toBe(before + 1)
  })

  it.each([
    ['other arguments', { text: 'b' }, {}],
    ['another agent', { text: 'a' }, { as: () => other }],
  ])('is refused for %s, and stores nothing', async (_, body, { as }: { as?: () => string }) => {
    await send('taken', { text: 'a' })
    const before = await snapshot()
    const answer = await send('taken', body, as ? { as: as() } : {})
    expect(answer.status).toBe(422)
    expect(answer.body.error?.code).toBe('IDEMPOTENCY_MISMATCH')
    expect(await snapshot()).toEqual(before)
  })

  it('is another one for another caller, and for another operation', async () => {
    const before = runs
    const { key: token } = await world.createAgentKey(agent)
    const ids = [
      await send('shared', { text: 'a' }),
      await send('shared', { text: 'a' }, { token }),
      await send('shared', { text: 'a' }, { operation: 'again' }),
    ].map(idOf)
    expect(new Set(ids).size).toBe(3)
    expect(runs).toBe(before + 3)
  })

  it('is busy while it runs, and runs once for many who ask at once', async () => {
    const before = runs
    isHeld = true
    const first = send('busy', { text: 'a' })
    await until('it runs', async () => runs > before || undefined)
    const second = await send('busy', { text: 'a' })
    expect(second.status).toBe(409)
    expect(second.body.error?.code).toBe('REQUEST_IN_PROGRESS')
    isHeld = false
    letGo()
    await first
    const many = await Promise.all([1, 2, 3, 4].map(() => send('many', { text: 'a' })))
    expect(many.map(({ status }) => status).every(status => [200, 409].includes(status))).toBe(true)
    expect(runs).toBe(before + 2)
  })

  it('is needed for what may run only once', async () => {
    const before = await snapshot()
    const answer = await send(undefined, { text: 'a' })
    expect(answer.status).toBe(400)
    expect(answer.body.error?.message).toContain('Idempotency-Key')
    expect(await snapshot()).toEqual(before)
    expect((await send(undefined, { text: 'a' }, { operation: 'again' })).status).toBe(200)
  })

  it('has a length', async () => {
    const longest = 'k'.repeat(MAX_IDEMPOTENCY_KEY_CHARS)
    expect((await send(longest, { text: 'a' })).status).toBe(200)
    expect((await send(`${longest}k`, { text: 'a' })).status).toBe(400)
  })

  /** As a function that was killed in the middle would have left its record. */
  const died = async (key: string, name: string) => {
    const id = idOf(await send(key, { text: 'a' }, { operation: name }))
    await table.update(ToolCall, callKey(id), {
      set: { status: 'STARTED', deadlineAt: '2020-01-01T00:00:00.000Z' },
      remove: ['result', 'endedAt'],
    })
    return id
  }

  it('whose function died is repeated where that does no harm', async () => {
    const id = await died('dead-again', 'again')
    const before = runs
    const answer = await send('dead-again', { text: 'a' }, { operation: 'again' })
    expect(answer.body.data).toMatchObject({ call_id: id, status: 'COMPLETED' })
    expect(runs).toBe(before + 1)
  })

  it('whose function died stays unknown where it may run once, until a person settles it', async () => {
    const id = await died('dead-once', 'once')
    const before = runs
    const answer = await send('dead-once', { text: 'a' })
    expect(answer.status).toBe(202)
    expect(answer.body.data).toMatchObject({ call_id: id, status: 'UNKNOWN' })
    dataOf(
      await world.request('POST', `/api/v1/tool-calls/${id}/settle`, {
        body: { ran: true, content: 'It went out.' },
      }),
    )
    const settled = await send('dead-once', { text: 'a' })
    expect(settled.body.data).toMatchObject({ status: 'COMPLETED', content: 'It went out.' })
    expect(runs).toBe(before)
  })
})

describe('what a POST makes under an Idempotency-Key', () => {
  const model = { provider: 'rehearsal', name: 'script' }
  const cases = [
    ['/api/v1/agents', () => ({ name: 'A', model }), () => ({ name: 'B', model })],
    [
      '/api/v1/tasks',
      () => ({ agent_id: agent, prompt: 'Hello' }),
      () => ({ agent_id: agent, prompt: 'Good bye' }),
    ],
  ] as const

  it.each(cases)('is made once by %s', async (path, body, otherBody) => {
    const headers = { 'idempotency-key': 'make' }
    const first = await world.request('POST', path, { body: body(), headers })
    const second = await world.request('POST', path, { body: body(), headers })
    expect([first.status, second.status]).toEqual([201, 200])
    expect((second.body.data as { id: string }).id).toBe((first.body.data as { id: string }).id)
    const third = await world.request('POST', path, { body: otherBody(), headers })
    expect(third.status).toBe(422)
    expect(third.body.error?.code).toBe('IDEMPOTENCY_MISMATCH')
    const someone = await world.createPerson()
    if (path === '/api/v1/agents') {
      const theirs = await world.request('POST', path, { body: body(), headers, key: someone.key })
      expect(theirs.status).toBe(201)
    }
    const without = await world.request('POST', path, { body: body() })
    expect(without.status).toBe(201)
  })

  it('is one key of an agent, whose text is shown this once', async () => {
    const path = `/api/v1/agents/${agent}/keys`
    const ask = () =>
      world.request('POST', path, { body: { name: 'K' }, headers: { 'idempotency-key': 'key' } })
    const first = dataOf<{ id: string; key: string }>(await ask())
    const keys = async () => Object.keys(await snapshot()).filter(name => name.startsWith('key_'))
    const before = await keys()
    const second = await ask()
    expect(second.status).toBe(409)
    expect(second.body.error?.details).toEqual({ id: first.id })
    expect(second.text).not.toContain(first.key)
    expect(await keys()).toEqual(before)
    const me = await world.request('GET', '/api/v1/principals/me', { key: first.key })
    expect(me.status).toBe(200)
  })

  it('is one task for many who ask at once', async () => {
    const ask = () =>
      world.request('POST', '/api/v1/tasks', {
        body: { agent_id: agent, prompt: 'At once' },
        headers: { 'idempotency-key': 'at-once' },
      })
    const answers = await Promise.all([ask(), ask(), ask(), ask()])
    const ids = new Set(answers.map(answer => dataOf<{ id: string }>(answer).id))
    expect(ids.size).toBe(1)
    const task = await world.untilTask([...ids][0] ?? '', 'COMPLETED')
    expect(task.usage.steps).toBe(1)
  })
})
