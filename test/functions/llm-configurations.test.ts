import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Id, newId } from '../../lib/core/ids.ts'
import * as table from '../../lib/data/table.ts'
import { configurationKey, LlmConfiguration } from '../../lib/llm/configuration.ts'
import { createGroup } from '../../lib/principal/group.ts'
import { RATE_LIMITS } from '../../lib/principal/rate-limit.ts'
import { type Scripted, WIRES } from '../lib/llm/wires.ts'
import { dataOf, type Person, snapshot, startWorld, type World } from '../world.ts'

const PATH = '/api/v1/llm-configurations'
const KEY = 'sk-canary-4b1d-KEY'
const INSTANCE_KEY = 'sk-of-the-instance'

type View = { id: Id<'llm'>; version: number; api_key: string | null; agents: number }

/** A model server on this machine, which is inside: it answers with the status of its path. */
let server: Server
let asked: { authorization: string | undefined; path: string; body: string }[] = []
let origin: string
let world: World
let person: Person

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const { authorization } = request.headers
      asked.push({ authorization, path: request.url ?? '', body: Buffer.concat(chunks).toString() })
      const status = Number(/^\/(\d{3})\//.exec(request.url ?? '')?.[1] ?? 200)
      if (status !== 200) {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: { message: `no: ${authorization}` } }))
        return
      }
      const answer: Scripted = { text: 'Done.', end: 'done' }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(WIRES['openai-compatible'](answer).join(''))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  process.env.OPENAI_COMPATIBLE_API_KEY = INSTANCE_KEY
  world = await startWorld()
  person = await world.createPerson()
})
afterAll(async () => {
  delete process.env.OPENAI_COMPATIBLE_API_KEY
  await world.stop()
  server.close()
})
beforeEach(() => {
  asked = []
})

const inside = (path = '/v1') => ({
  name: 'Inside',
  provider: 'openai-compatible',
  model: 'local',
  base_url: origin + path,
})

const make = async (body: object, key?: string): Promise<View> =>
  dataOf(await world.request('POST', PATH, { body, ...(key ? { key } : {}) }))

const change = (id: string, version: number | '*', body: object, key?: string) =>
  world.request('PATCH', `${PATH}/${id}`, {
    body,
    headers: { 'if-match': version === '*' ? '*' : `"${version}"` },
    ...(key ? { key } : {}),
  })

const test = async (id: string, key?: string) =>
  dataOf<{ ok: boolean; error: { code: string; kind: string | null; message: string } | null }>(
    await world.request('POST', `${PATH}/${id}/test`, key ? { key } : {}),
  )

const agentWith = (id: string, fields: object = {}) =>
  world.createAgent([], { model: undefined, llm_configuration_id: id, ...fields })

const run = async (agent: string) => {
  const id = await world.createTask(agent, 'Hello')
  return world.untilTask(id, 'COMPLETED', 'FAILED')
}

describe('an LLM configuration', () => {
  it('answers for the agents that name it, with its own key and no other', async () => {
    const { id } = await make({ ...inside(), api_key: KEY })
    const agent = await agentWith(id)
    expect(await run(agent)).toMatchObject({ status: 'COMPLETED', final_response: 'Done.' })
    expect(asked).toMatchObject([{ authorization: `Bearer ${KEY}` }])
    expect(asked[0]?.body).not.toContain(KEY)
    expect(dataOf(await world.request('GET', `/api/v1/agents/${agent}`))).toMatchObject({
      model: null,
      llm_configuration_id: id,
    })
    expect(dataOf(await world.request('GET', `${PATH}/${id}/agents`))).toMatchObject([
      { id: agent, name: 'Agent' },
    ])
    const changed = dataOf<View>(await change(id, '*', { model: 'other', api_key: '***' }))
    expect(changed).toMatchObject({ model: 'other', api_key: '***', version: 2 })
    await run(agent)
    expect(JSON.parse(asked[1]?.body ?? '')).toMatchObject({ model: 'other' })
    expect(asked[1]?.authorization).toBe(`Bearer ${KEY}`)
  })

  it('shows its key nowhere: in no answer, row, log or error', async () => {
    const made = await world.request('POST', PATH, { body: { ...inside('/401/v1'), api_key: KEY } })
    const { id } = dataOf<View>(made)
    const agent = await agentWith(id)
    const task = await run(agent)
    expect(task).toMatchObject({ status: 'FAILED', error: { code: 'AUTH_ERROR' } })
    const answers = [
      made,
      await world.request('GET', `${PATH}/${id}`),
      await world.request('GET', PATH),
      await world.request('POST', `${PATH}/${id}/test`),
      await world.request('GET', `/api/v1/tasks/${task.id}`),
      await change(id, 1, { base_url: `${origin}/500/v1` }),
    ]
    expect(asked.length).toBeGreaterThan(1)
    const everything = [
      ...answers.map(({ text }) => text),
      JSON.stringify(await snapshot(), (_, value) => (value instanceof Set ? [...value] : value)),
      JSON.stringify(world.logs),
    ].join('\n')
    expect(everything).toContain(id)
    expect(everything).not.toContain(KEY)
    expect(everything).not.toContain(Buffer.from(KEY).toString('base64').slice(0, 20))
  })

  it('whose key can’t be opened fails its tasks, and no other key steps in', async () => {
    const { id } = await make({ ...inside(), api_key: KEY })
    const agent = await agentWith(id)
    const other = await make({ ...inside(), api_key: 'another' })
    const { apiKey } = (await table.get(LlmConfiguration, configurationKey(other.id))) ?? {}
    // The ciphertext of one place means nothing in another.
    await table.update(LlmConfiguration, configurationKey(id), { set: { apiKey } })
    const task = await run(agent)
    expect(task).toMatchObject({ status: 'FAILED', error: { code: 'DECRYPTION_FAILED' } })
    expect(task.error?.message).toContain('"Inside"')
    expect(await test(id)).toMatchObject({ ok: false, error: { code: 'DECRYPTION_FAILED' } })
    expect(asked).toEqual([])
  })

  it('in use is not deleted, and the refusal names the agents', async () => {
    const { id } = await make({ name: 'R', provider: 'rehearsal', model: 'script' })
    const agent = await agentWith(id, { name: 'Its agent' })
    const remove = () =>
      world.request('DELETE', `${PATH}/${id}`, { headers: { 'if-match': '"1"' } })
    const refused = await remove()
    expect(refused.status).toBe(409)
    expect(refused.body.error).toMatchObject({
      code: 'LLM_CONFIGURATION_IN_USE',
      details: { count: 1, agents: [{ id: agent, name: 'Its agent' }] },
    })
    expect(refused.body.error?.message).toContain('"Its agent"')
    const patched = await world.request('PATCH', `/api/v1/agents/${agent}`, {
      body: { model: { provider: 'rehearsal', name: 'script' } },
      headers: { 'if-match': '*' },
    })
    expect(dataOf(patched)).toMatchObject({ llm_configuration_id: null })
    expect(dataOf(await remove())).toEqual({ id, deleted: true })
    expect((await world.request('GET', `${PATH}/${id}`)).status).toBe(404)
  })

  it('is changed by version: of two at once one is told', async () => {
    const { id } = await make({ name: 'R', provider: 'rehearsal', model: 'script' })
    const answers = await Promise.all([
      change(id, 1, { name: 'One' }),
      change(id, 1, { name: 'Two' }),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412])
    const bare = await world.request('PATCH', `${PATH}/${id}`, { body: { name: 'Three' } })
    expect(bare.body.error?.code).toBe('VERSION_REQUIRED')
  })

  it('that is gone behind an agent’s back fails its tasks', async () => {
    const { id } = await make({ name: 'R', provider: 'rehearsal', model: 'script' })
    const agent = await agentWith(id)
    await table.remove(configurationKey(id))
    expect(await run(agent)).toMatchObject({ status: 'FAILED', error: { code: 'NOT_CONFIGURED' } })
  })

  it('goes with the agent that owns it', async () => {
    const agent = await world.createAgent([])
    const { id } = await make({ ...inside(), api_key: KEY, owner: agent })
    const headers = { 'if-match': '*' }
    const body = { llm_configuration_id: id }
    dataOf(await world.request('PATCH', `/api/v1/agents/${agent}`, { body, headers }))
    dataOf(await world.request('DELETE', `/api/v1/agents/${agent}`, { headers }))
    expect(await table.get(LlmConfiguration, configurationKey(id))).toBeUndefined()
  })
})

describe('who may use one', () => {
  it('is everyone for a global one, which only admins change', async () => {
    const { id } = await make({ ...inside(), api_key: KEY, owner: 'global' })
    const as = { key: person.key }
    const seen = await world.request('GET', `${PATH}/${id}`, as)
    expect(dataOf(seen)).toMatchObject({ api_key: '***' })
    expect(dataOf<View[]>(await world.request('GET', `${PATH}?owner=global`, as))).toContainEqual(
      expect.objectContaining({ id }),
    )
    expect((await change(id, 1, { name: 'Mine' }, person.key)).status).toBe(403)
    expect((await world.request('GET', `${PATH}/${id}/agents`, as)).status).toBe(403)
    expect((await world.request('POST', `${PATH}/${id}/test`, as)).status).toBe(403)
    const body = { ...inside(), owner: 'global' }
    expect((await world.request('POST', PATH, { ...as, body })).status).toBe(403)
    const agent = await agentWith(id, { key: person.key })
    const task = await world.request('POST', '/api/v1/tasks', {
      ...as,
      body: { agent_id: agent, prompt: 'Hello' },
    })
    const ended = await world.untilTask(dataOf<{ id: string }>(task).id, 'COMPLETED', 'FAILED')
    expect(ended.status).toBe('COMPLETED')
  })

  it('is its principal’s agents and no others', async () => {
    const rehearsal = { name: 'R', provider: 'rehearsal', model: 'script' }
    const { id } = await make(rehearsal, person.key)
    await agentWith(id, { key: person.key })
    const stranger = await world.createPerson()
    const body = { name: 'A', llm_configuration_id: id }
    const refused = await world.request('POST', '/api/v1/agents', { body, key: stranger.key })
    expect(refused.status).toBe(404)
    for (const path of [`${PATH}/${id}`, `${PATH}/${id}/agents`, `${PATH}?owner=${person.id}`])
      expect((await world.request('GET', path, { key: stranger.key })).status).toBe(404)
  })

  it('is the agents of its group, whose keepers change it', async () => {
    const group = newId('group')
    await createGroup({ id: group, name: 'G' }, { ownerId: person.id })
    const rehearsal = { name: 'R', provider: 'rehearsal', model: 'script', owner: group }
    const { id } = await make(rehearsal, person.key)
    await agentWith(id, { key: person.key, principal_id: group })
    const own = await world.request('POST', '/api/v1/agents', {
      body: { name: 'A', llm_configuration_id: id },
      key: person.key,
    })
    expect(own.status).toBe(404)
  })

  it('is not the agent that was given away: it gets another model first', async () => {
    const { id } = await make({ name: 'R', provider: 'rehearsal', model: 'script' }, person.key)
    const agent = await agentWith(id, { key: person.key })
    const to = await world.createPerson()
    const transfer = () =>
      world.request('POST', `/api/v1/agents/${agent}/transfer`, {
        body: { principal_id: to.id },
        headers: { 'if-match': '*' },
      })
    expect((await transfer()).body.error?.code).toBe('INVALID_STATE')
    const model = { model: { provider: 'rehearsal', name: 'script' } }
    const headers = { 'if-match': '*' }
    dataOf(await world.request('PATCH', `/api/v1/agents/${agent}`, { body: model, headers }))
    expect(dataOf(await transfer())).toMatchObject({ principal_id: to.id })
  })
})

describe('an address of one’s own', () => {
  it('that no admin chose leads nowhere inside, and says so', async () => {
    const { id } = await make({ ...inside(), api_key: KEY }, person.key)
    expect(await test(id, person.key)).toMatchObject({
      ok: false,
      error: { code: 'FETCH_REFUSED' },
    })
    const agent = await agentWith(id, { key: person.key })
    const task = await world.request('POST', '/api/v1/tasks', {
      body: { agent_id: agent, prompt: 'Hello' },
    })
    const ended = await world.untilTask(dataOf<{ id: string }>(task).id, 'COMPLETED', 'FAILED')
    expect(ended.error?.code).toBe('FETCH_REFUSED')
    expect(asked).toEqual([])
  })

  it('that the operator allows is asked, without the instance’s key', async () => {
    process.env.ESPALIER_FETCH_ALLOW = new URL(origin).host
    try {
      const { id } = await make(inside(), person.key)
      expect(await test(id, person.key)).toMatchObject({ ok: true, error: null })
      expect(asked).toMatchObject([{ authorization: undefined }])
    } finally {
      delete process.env.ESPALIER_FETCH_ALLOW
    }
  })

  it('of an admin is asked with the instance’s key, where there is no other', async () => {
    const { id } = await make(inside())
    expect(await test(id)).toMatchObject({ ok: true })
    expect(asked).toMatchObject([{ authorization: `Bearer ${INSTANCE_KEY}` }])
  })

  it('is an admin’s no more once someone else has changed where it leads, or whose key goes', async () => {
    for (const body of [{ base_url: `${origin}/v2` }, { api_key: null }]) {
      const { id } = await make({ ...inside(), api_key: KEY, owner: person.id })
      expect(await test(id, person.key)).toMatchObject({ ok: true })
      const given = 'base_url' in body ? { ...body, api_key: 'mine' } : body
      dataOf(await change(id, 1, given, person.key))
      expect(await test(id, person.key)).toMatchObject({ error: { code: 'FETCH_REFUSED' } })
    }
  })

  it.each([{ base_url: 'https://evil.example/v1' }, { base_url: null, provider: 'openai' }])(
    'asks for the key again as it becomes another: %j',
    async body => {
      const { id } = await make({ ...inside(), api_key: KEY }, person.key)
      for (const kept of [body, { ...body, api_key: '***' }]) {
        const answer = await change(id, 1, kept, person.key)
        expect(answer.status).toBe(422)
        expect(answer.body.error?.message).toContain('"api_key"')
      }
      expect((await change(id, 1, { ...body, api_key: 'a-new-key' }, person.key)).status).toBe(200)
    },
  )

  it('is needed where the provider has none', async () => {
    const bare = { name: 'B', provider: 'openai-compatible', model: 'm' }
    const answer = await world.request('POST', PATH, { body: bare })
    expect(answer.body.error?.message).toContain('"base_url": is needed')
    const { id } = await make(inside())
    expect((await change(id, 1, { base_url: null })).status).toBe(422)
  })
})

describe('a test of the model', () => {
  it('says that one answers which is at its provider’s own address', async () => {
    const { id } = await make({ name: 'R', provider: 'rehearsal', model: 'script' })
    expect(await test(id)).toMatchObject({ ok: true, error: null })
    expect(await run(await agentWith(id))).toMatchObject({ status: 'COMPLETED' })
  })

  it.each([
    [401, 'auth-error'],
    [429, 'rate-limit'],
    [500, 'server-error'],
    [400, 'bad-request'],
  ])('tells what %i means', async (status, kind) => {
    const { id } = await make({ ...inside(`/${status}/v1`), api_key: KEY })
    const trial = await test(id)
    expect(trial).toMatchObject({ ok: false, error: { code: 'MODEL_ERROR', kind } })
    expect(JSON.stringify(trial)).not.toContain(KEY)
  })

  it('is made so often in a minute and no oftener, however many keys someone has', async () => {
    const tester = await world.createPerson()
    const { id } = await make({ name: 'R', provider: 'rehearsal', model: 'script' }, tester.key)
    const keys = [tester, await world.createUserKey(tester.id)]
    const { perMinute } = RATE_LIMITS.model
    const statuses: number[] = []
    // More than one minute's share of two minutes, in case one ends in between.
    for (let count = 0; count <= 2 * perMinute; count++) {
      const key = keys[count % keys.length]?.key ?? ''
      statuses.push((await world.request('POST', `${PATH}/${id}/test`, { key })).status)
    }
    expect(statuses.slice(0, perMinute)).toEqual(statuses.slice(0, perMinute).map(() => 200))
    expect(statuses).toContain(429)
  })
})
