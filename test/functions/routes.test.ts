import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { routeTable } from '../../functions/routes.ts'
import { tools } from '../../functions/tools/index.ts'
import { callKey, ToolCall } from '../../lib/call/tool-call.ts'
import type { Id } from '../../lib/core/ids.ts'
import * as table from '../../lib/data/table.ts'
import { createKey, revokeKey } from '../../lib/principal/key.ts'
import { makeSession } from '../session.ts'
import { dataOf, type Person, snapshot, startWorld, until, type World } from '../world.ts'

// Every route of the table is asked by every kind of caller about what one member owns.

const CALLERS = [
  'nobody',
  'a made-up key',
  'a revoked key',
  'the agent itself',
  'another agent of the same owner',
  'another user',
  'the owner without the scope',
  'the owner',
  'an admin',
] as const
type CallerName = (typeof CALLERS)[number]

const NO_KEY = [401, 401, 401] as const
/** Only those who govern the owner's things. */
const GOVERNORS = [...NO_KEY, 404, 404, 404, 200, 200, 200]
const GOVERNORS_MAKE = [...NO_KEY, 404, 404, 404, 201, 201, 201]
/** What is one's own, and no agent's. */
const USERS = [...NO_KEY, 403, 403, 200, 200, 200, 200]
const EVERYONE = [...NO_KEY, 200, 200, 200, 200, 200, 200]
const ANYONE = CALLERS.map(() => 200)
/** The agent may read what it did itself. */
const READERS = [...NO_KEY, 200, 404, 404, 200, 200, 200]
const DECIDERS = [...NO_KEY, 403, 404, 404, 403, 200, 200]
const NO_SESSION = [...NO_KEY, 404, 404, 404, 404, 404, 404]
const ADMINS = [...NO_KEY, 403, 403, 403, 403, 403, 200]

/** What a request began begins its own next function within it. */
const QUIET_MS = 10

type Ids = Record<
  'agent' | 'task' | 'call' | 'unknown' | 'media' | 'key' | 'principal' | 'session' | 'invitation',
  string
>
type Row = {
  expected: readonly number[]
  /** A page for people, whose refusals are words. */
  isWords?: true
  /** What the owner is answered who has signed in, where that isn't what the owner's key is. */
  signedIn?: number
  /** The path's parts in braces that no id of the same name fills, and the body. */
  id?: keyof Ids
  body?: (ids: Ids) => unknown
}

const WALK: Record<string, Row> = {
  'GET /api/v1/principals/me': { expected: EVERYONE },
  'GET /api/v1/tools': { expected: EVERYONE },
  'GET /api/v1/tools/{tool}': { expected: EVERYONE },
  'GET /api/v1/tools/{tool}/settings': { expected: ADMINS },
  'PUT /api/v1/tools/{tool}/settings': { expected: ADMINS, body: () => ({ timezone: 'UTC' }) },
  'DELETE /api/v1/tools/{tool}/settings/{key}': { expected: ADMINS },
  'DELETE /api/v1/tools/{tool}/settings': { expected: ADMINS },
  'GET /api/v1/principals/{id}/tools/{tool}/settings': { expected: GOVERNORS, id: 'principal' },
  'PUT /api/v1/principals/{id}/tools/{tool}/settings': {
    expected: GOVERNORS,
    id: 'principal',
    body: () => ({ timezone: 'UTC' }),
  },
  'DELETE /api/v1/principals/{id}/tools/{tool}/settings/{key}': {
    expected: GOVERNORS,
    id: 'principal',
  },
  'DELETE /api/v1/principals/{id}/tools/{tool}/settings': { expected: GOVERNORS, id: 'principal' },
  'GET /api/v1/agents/{id}/tools/{tool}/settings': { expected: GOVERNORS, id: 'agent' },
  'PUT /api/v1/agents/{id}/tools/{tool}/settings': {
    expected: GOVERNORS,
    id: 'agent',
    body: () => ({ timezone: 'UTC' }),
  },
  'DELETE /api/v1/agents/{id}/tools/{tool}/settings/{key}': { expected: GOVERNORS, id: 'agent' },
  'DELETE /api/v1/agents/{id}/tools/{tool}/settings': { expected: GOVERNORS, id: 'agent' },
  'GET /api/v1/audit': { expected: ADMINS },
  'GET /api/v1/agents': { expected: USERS },
  'POST /api/v1/agents': {
    expected: [...NO_KEY, 403, 403, 201, 201, 201, 201],
    body: () => ({ name: 'New', model: { provider: 'rehearsal', name: 'script' } }),
  },
  'GET /api/v1/agents/{id}': { expected: GOVERNORS, id: 'agent' },
  'POST /api/v1/agents/{id}/tools/{tool}/enable': { expected: GOVERNORS, id: 'agent' },
  'DELETE /api/v1/agents/{id}/tools/{tool}/enable': { expected: GOVERNORS, id: 'agent' },
  'PATCH /api/v1/agents/{id}/tools/{tool}/operations/{operation}': {
    expected: GOVERNORS,
    id: 'agent',
    body: () => ({ enabled: true }),
  },
  'POST /api/v1/agents/{id}/keys': {
    expected: GOVERNORS_MAKE,
    id: 'agent',
    body: () => ({ name: 'Key' }),
  },
  'DELETE /api/v1/keys/{id}': { expected: GOVERNORS, id: 'key' },
  'GET /api/v1/tasks': { expected: EVERYONE },
  'POST /api/v1/tasks': {
    expected: [...NO_KEY, 403, 403, 404, 201, 201, 201],
    body: ({ agent }) => ({ agent_id: agent, prompt: 'Hello' }),
  },
  'GET /api/v1/tasks/{id}': { expected: READERS, id: 'task' },
  'GET /api/v1/tasks/{id}/history': { expected: READERS, id: 'task' },
  'POST /api/v1/tasks/{id}/cancel': {
    expected: [...NO_KEY, 403, 404, 404, 200, 200, 200],
    id: 'task',
  },
  'GET /api/v1/approvals': { expected: USERS },
  'GET /api/v1/tool-calls/{id}': { expected: READERS, id: 'call' },
  // Nothing of that name is kept: who may read the call is told so, as everyone else is.
  'GET /api/v1/tool-calls/{id}/outputs/{hash}': {
    expected: [...NO_KEY, 404, 404, 404, 404, 404, 404],
    id: 'call',
  },
  'POST /api/v1/tool-calls/{id}/approve': { expected: DECIDERS, id: 'call', body: digestOf },
  'POST /api/v1/tool-calls/{id}/reject': { expected: DECIDERS, id: 'call', body: digestOf },
  'POST /api/v1/tool-calls/{id}/settle': {
    expected: DECIDERS,
    id: 'unknown',
    body: () => ({ ran: false }),
  },
  'GET /api/v1/media': { expected: USERS },
  'GET /api/v1/media/{id}': { expected: GOVERNORS, id: 'media' },
  'POST /api/v1/media/{id}/public-link': { expected: GOVERNORS_MAKE, id: 'media' },
  'DELETE /api/v1/media/{id}/public-link': { expected: GOVERNORS, id: 'media' },
  'GET /api/v1/assets/{id}': {
    expected: [...NO_KEY, 404, 404, 404, 302, 302, 302],
    id: 'media',
  },
  // Keys are no sessions, and nobody here has signed in.
  'GET /api/v1/sessions': { expected: USERS },
  'DELETE /api/v1/sessions': { expected: USERS },
  'GET /api/v1/sessions/current': { expected: NO_SESSION, signedIn: 200 },
  'POST /api/v1/sign-out': { expected: NO_SESSION, signedIn: 200 },
  'DELETE /api/v1/sessions/{id}': { expected: GOVERNORS, id: 'session' },
  'GET /api/v1/invitations': { expected: ADMINS },
  'POST /api/v1/invitations': {
    expected: [...NO_KEY, 403, 403, 403, 403, 403, 201],
    body: () => ({}),
  },
  'DELETE /api/v1/invitations/{id}': {
    expected: [...NO_KEY, 404, 404, 404, 404, 404, 200],
    id: 'invitation',
  },
  // What asks for a secret of its own, and takes none of these; there is no provider.
  'POST /api/v1/invitations/accept': {
    expected: CALLERS.map(() => 403),
    body: () => ({ token: 'inv_made-up', name: 'Someone' }),
  },
  'POST /api/v1/claim': {
    expected: CALLERS.map(() => 404),
    body: () => ({ secret: 'made up' }),
  },
  'GET /sign-in': { expected: CALLERS.map(() => 404), isWords: true },
  'GET /sign-in/callback': { expected: CALLERS.map(() => 404), isWords: true },
  // What says how to use the API is for everyone.
  'GET /api/v1/openapi.json': { expected: ANYONE },
  'GET /docs': { expected: ANYONE },
  'HEAD /docs': { expected: ANYONE },
  'GET /docs/{file}': { expected: ANYONE },
  'HEAD /docs/{file}': { expected: ANYONE },
  // The link's own token opens it, and nobody's key.
  'GET /api/v1/public/media/{id}': { expected: CALLERS.map(() => 404), id: 'media' },
}

const OPERATION = /^POST \/api\/v1\/tools\/[a-z_]+\/operations\/[a-z_]+$/
/** Who runs a foreign agent's operation; those who may get in are told of their arguments. */
const RUNNERS = [...NO_KEY, 'in', 404, 404, 'in', 'in', 'in'] as const
const IN = [200, 202, 400, 422]

const routes = (await routeTable()).routes.map(({ method, path }) => `${method} ${path}`)

let world: World
let owner: Person
let agent: Id<'agent'>
let media: string
let keys: Record<CallerName, string | null>

beforeAll(async () => {
  // So many ask from one address.
  vi.stubEnv('ESPALIER_RATE_LIMITS', 'key=off, address=off, everyone=off')
  world = await startWorld()
  owner = await world.createPerson(['decide'])
  const as = { key: owner.key }
  agent = await world.createAgent(Object.keys(tools), as)
  const other = await world.createAgent(['time'], as)
  await world.setSettings(agent, 'sub_agent', { allowed_target_agents: [other] })
  const revoked = await world.createUserKey(owner.id, ['decide'])
  await revokeKey(revoked.keyId)
  keys = {
    nobody: null,
    'a made-up key': 'esp_made-up',
    'a revoked key': revoked.key,
    'the agent itself': (await world.createAgentKey(agent)).key,
    'another agent of the same owner': (await world.createAgentKey(other)).key,
    'another user': (await world.createPerson(['decide'])).key,
    'the owner without the scope': (await world.createUserKey(owner.id)).key,
    'the owner': owner.key,
    'an admin': world.adminKey,
  }
  const created = await world.run(agent, 'media.create_media', { filename: 'a', content: 'A' })
  media = (created.body.data as { media: [string] }).media[0]
})
afterAll(() => {
  vi.unstubAllEnvs()
  return world.stop()
})

describe('every route, by every kind of caller', () => {
  it('is in this walk', () => {
    expect(routes.filter(route => !WALK[route] && !OPERATION.test(route))).toEqual([])
    expect(Object.keys(WALK).filter(route => !routes.includes(route))).toEqual([])
  })

  const pairs = routes.flatMap(route =>
    CALLERS.map((caller, column) => ({ route, caller, column })),
  )

  it.each(pairs)('$route for $caller', async ({ route, caller, column }) => {
    const row = rowOf(route)
    const wanted = OPERATION.test(route) ? RUNNERS[column] : row.expected[column]
    const ids = await idsFor(row.id)
    const isRefused = wanted !== 'in' && Number(wanted) >= 400
    const before = isRefused ? await quietSnapshot() : {}
    const answer = await ask(route, ids, { key: keys[caller] })
    if (wanted === 'in') expect(IN, answer.text).toContain(answer.status)
    else expect(answer.status, answer.text).toBe(wanted)
    if (!isRefused) {
      // Who sees lists of their own sees nothing of others.
      if (caller === 'another user') expect(answer.text).not.toContain(owner.id)
      if (caller === 'another agent of the same owner') expect(answer.text).not.toContain(agent)
      return
    }
    if (row.isWords) expect(answer.text).toMatch(/^[A-Z].+\.\n/)
    else
      expect(answer.body).toEqual({
        error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }),
      })
    expect(await snapshot()).toEqual(before)
  })

  it.each(routes)('%s for the owner who has signed in', async route => {
    const row = rowOf(route)
    const wanted = row.signedIn ?? row.expected[CALLERS.indexOf('the owner')]
    const { headers } = await makeSession(owner.id)
    const answer = await ask(route, await idsFor(row.id), { key: null, headers })
    if (OPERATION.test(route)) expect(IN, answer.text).toContain(answer.status)
    else expect(answer.status, answer.text).toBe(wanted)
  })

  const writes = routes.filter(
    route => !/^(GET|HEAD) /.test(route) && new Set(rowOf(route).expected).size !== 1,
  )

  it.each(writes)('%s for a page of another site', async route => {
    const { headers, cookie } = await makeSession(owner.id)
    const ids = await idsFor(rowOf(route).id)
    const before = await quietSnapshot()
    for (const forged of [
      { ...headers, origin: 'https://elsewhere.example' },
      { cookie, origin: headers.origin },
    ]) {
      const answer = await ask(route, ids, { key: null, headers: forged })
      expect(answer.status, answer.text).toBe(403)
      expect(answer.body.error?.code).toBe('CSRF_INVALID')
    }
    expect(await snapshot()).toEqual(before)
  })
})

function rowOf(route: string): Row {
  return WALK[route] ?? { expected: [], body: () => ({}) }
}

const ask = (
  route: string,
  ids: Ids,
  { headers, ...as }: { key: string | null; headers?: Record<string, string> },
) => {
  const { id, body } = rowOf(route)
  const [method = '', pattern = ''] = route.split(' ')
  const path = pattern
    .replace('{id}', id ? ids[id] : '')
    .replace('{tool}', 'time')
    .replace('{operation}', 'now')
    .replace('{key}', 'timezone')
    .replace('{file}', 'start.js')
  return world.request(method, path, {
    ...as,
    ...(body ? { body: body(ids) } : {}),
    headers: { ...headers, ...(OPERATION.test(route) ? { 'espalier-agent': agent } : {}) },
  })
}

/** What is stored once nothing runs any more of what earlier requests began. */
const quietSnapshot = () =>
  until('nothing runs', async () => {
    const before = await snapshot()
    await new Promise(resolve => setTimeout(resolve, QUIET_MS))
    if (world.running() > 0) return undefined
    return isDeepStrictEqual(await snapshot(), before) ? before : undefined
  })

/** Fresh things of the owner's, as far as a route needs one. */
const idsFor = async (kind: keyof Ids | undefined): Promise<Ids> => {
  const ids = {
    agent,
    media,
    principal: owner.id,
    task: '',
    call: '',
    unknown: '',
    key: '',
    session: '',
    invitation: '',
  }
  if (kind === 'task') return { ...ids, task: await quietTask() }
  if (kind === 'call') return { ...ids, call: await waitingCall() }
  if (kind === 'unknown') return { ...ids, unknown: await unknownCall() }
  if (kind === 'key') return { ...ids, key: (await world.createUserKey(owner.id)).keyId }
  if (kind === 'session') return { ...ids, session: (await makeSession(owner.id)).session.id }
  if (kind === 'invitation') return { ...ids, invitation: await openInvitation() }
  return ids
}

const openInvitation = async (): Promise<string> =>
  dataOf<{ id: string }>(await world.request('POST', '/api/v1/invitations', { body: {} })).id

/** A task that writes nothing any more while it is looked at. */
const quietTask = async () => {
  const id = await world.createTask(agent, 'Hello')
  await world.untilTask(id, 'COMPLETED')
  return id
}

const digests = new Map<string, string>()

const waitingCall = async (): Promise<string> => {
  const answer = await world.run(agent, 'media.get_public_url', { media_id: media })
  const { call_id, digest } = answer.body.data as { call_id: string; digest: string }
  digests.set(call_id, digest)
  return call_id
}

function digestOf({ call }: Ids) {
  return { digest: digests.get(call) }
}

const unknownCall = async (): Promise<string> => {
  const id = await waitingCall()
  await table.update(ToolCall, callKey(id as Id<'call'>), { set: { status: 'UNKNOWN' } })
  return id
}

describe('a key', () => {
  it('is refused once it has expired', async () => {
    const expired = await createKey({
      name: 'Old',
      subjectId: owner.id,
      principalId: owner.id,
      scopes: [],
      expiresAt: '2020-01-01T00:00:00.000Z',
    })
    const answer = await world.request('GET', '/api/v1/agents', { key: expired.text })
    expect(answer.status).toBe(401)
  })

  it('of an agent makes calls for that agent alone, whatever agent it names', async () => {
    const key = keys['another agent of the same owner']
    const answer = await world.run(agent, 'time.now', {}, { key })
    expect(answer.status).toBe(404)
    expect(dataOf(await world.run(undefined, 'time.now', {}, { key }))).toMatchObject({
      status: 'COMPLETED',
    })
  })
})
