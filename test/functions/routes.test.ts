import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { routeTable } from '../../functions/routes.ts'
import { tools } from '../../functions/tools/index.ts'
import { callKey, ToolCall } from '../../lib/call/tool-call.ts'
import { type Id, newId } from '../../lib/core/ids.ts'
import * as table from '../../lib/data/table.ts'
import { createGroup, type GroupRole } from '../../lib/principal/group.ts'
import { createKey, revokeKey } from '../../lib/principal/key.ts'
import { addMember, getMember, removeMember } from '../../lib/principal/member.ts'
import type { Relation } from '../../lib/principal/permission.ts'
import { changed, getUser, replaceUser } from '../../lib/principal/user.ts'
import { allTools } from '../../lib/tool/registry.ts'
import { makeSession } from '../session.ts'
import { dataOf, type Person, snapshot, startWorld, until, type World } from '../world.ts'
import {
  type Asker,
  digests,
  expected,
  type Ids,
  NOBODY,
  OWNER_OF,
  type Row,
  type Thing,
  WALK,
} from './walk.ts'

// Every route of the table is asked by every kind of caller: some about what one user owns, some
// about what a group does.

type Standing = Pick<Asker, 'kind' | 'isItself' | 'lacksDecide'> & {
  /** Whose things it asks about. */
  about: 'user' | 'group'
  toUser?: Relation
  toGroup?: Relation
  toInstance?: Relation
}

const CALLERS = {
  nobody: { about: 'user', kind: 'nobody' },
  'a made-up key': { about: 'user', kind: 'nobody' },
  'a revoked key': { about: 'user', kind: 'nobody' },
  'a disabled admin': { about: 'user', kind: 'nobody' },
  'an agent of a disabled user': { about: 'user', kind: 'nobody' },
  'the agent itself': { about: 'user', kind: 'agent', isItself: true },
  'another agent of the same owner': { about: 'user', kind: 'agent' },
  'another user': { about: 'user', kind: 'user' },
  'the owner without the scope': {
    about: 'user',
    kind: 'user',
    toUser: 'self',
    lacksDecide: true,
  },
  'the owner': { about: 'user', kind: 'user', toUser: 'self' },
  'an admin of the instance': {
    about: 'user',
    kind: 'user',
    toUser: 'instance-admin',
    toGroup: 'instance-admin',
    toInstance: 'instance-admin',
  },
  'an admin of the instance, about a group': {
    about: 'group',
    kind: 'user',
    toUser: 'instance-admin',
    toGroup: 'instance-admin',
    toInstance: 'instance-admin',
  },
  'an owner of the group': { about: 'group', kind: 'user', toGroup: 'group-owner' },
  'an admin of the group': { about: 'group', kind: 'user', toGroup: 'group-admin' },
  'an admin of the group without the scope': {
    about: 'group',
    kind: 'user',
    toGroup: 'group-admin',
    lacksDecide: true,
  },
  'a member of the group': { about: 'group', kind: 'user', toGroup: 'group-member' },
  'a former member of the group': { about: 'group', kind: 'user' },
  'an owner of another group': { about: 'group', kind: 'user' },
  'an agent of the group': { about: 'group', kind: 'agent', isItself: true },
} as const satisfies Record<string, Standing>
type CallerName = keyof typeof CALLERS
const callers = Object.keys(CALLERS) as CallerName[]

/** What a request began begins its own next function within it. */
const QUIET_MS = 10

const OPERATION = /^POST \/api\/v1\/tools\/[a-z_]+\/operations\/[a-z_]+$/
/** An agent runs its own operations; those who may get in are told of their arguments. */
const RUN: Row = { may: 'run', of: 'agent', body: () => ({}) }
const IN = [200, 202, 400, 422]

/** Lists that name whose things they are of, and what of the table lets one ask. */
const LISTS: Record<string, Row> = {
  'GET /api/v1/agents': { may: 'read', of: 'principal', isForUsers: true },
  'GET /api/v1/tasks': { may: 'read', of: 'principal' },
  'GET /api/v1/approvals': { may: 'read', of: 'principal', isForUsers: true },
  'GET /api/v1/media': { may: 'read', of: 'principal', isForUsers: true },
  'GET /api/v1/keys': { may: 'manage-agents', of: 'principal', isForUsers: true },
  'GET /api/v1/subscriptions': { may: 'manage-notices', of: 'principal', isForUsers: true },
  'GET /api/v1/audit': { may: 'audit', of: 'principal' },
}

/** Of what both homes have from the start. */
const NEVER_EMPTY = ['GET /api/v1/agents', 'GET /api/v1/keys', 'GET /api/v1/media']

const routes = (await routeTable()).routes.map(({ method, path }) => `${method} ${path}`)

type Home = { principal: Id<'user'> | Id<'group'>; agent: Id<'agent'>; media: string }

let world: World
let owner: Person
let group: Id<'group'>
let members: Record<GroupRole, Person>
let homes: Record<'user' | 'group', Home>
let keys: Record<CallerName, string | null>

beforeAll(async () => {
  // So many ask from one address.
  vi.stubEnv('ESPALIER_RATE_LIMITS', 'key=off, address=off, everyone=off')
  vi.stubEnv('ESPALIER_FETCH_ALLOW', new URL(NOBODY).host)
  world = await startWorld()
  const people = await Promise.all(Array.from({ length: 8 }, () => world.createPerson(['decide'])))
  const [one, two, three, four, other, former, disabled, user] = people as [
    Person,
    Person,
    Person,
    Person,
    Person,
    Person,
    Person,
    Person,
  ]
  owner = user
  members = { owner: one, admin: two, member: three }
  group = await groupOf(members)
  await join(former, 'admin')
  await removeMember(await getMember(group, former.id))
  await createGroup({ id: newId('group'), name: 'Others' }, { ownerId: four.id })
  homes = { user: await homeOf(owner, owner.id), group: await homeOf(one, group) }
  const revoked = await world.createUserKey(owner.id, ['decide'])
  await revokeKey(revoked.keyId)
  const sibling = await world.createAgent(['time'], { key: owner.key })
  const ofDisabled = await world.createAgent(['time'], { key: disabled.key })
  keys = {
    nobody: null,
    'a made-up key': 'esp_made-up',
    'a revoked key': revoked.key,
    'a disabled admin': disabled.key,
    'an agent of a disabled user': (await world.createAgentKey(ofDisabled)).key,
    'the agent itself': (await world.createAgentKey(homes.user.agent)).key,
    'another agent of the same owner': (await world.createAgentKey(sibling)).key,
    'another user': other.key,
    'the owner without the scope': (await world.createUserKey(owner.id)).key,
    'the owner': owner.key,
    'an admin of the instance': world.adminKey,
    'an admin of the instance, about a group': world.adminKey,
    'an owner of the group': one.key,
    'an admin of the group': two.key,
    'an admin of the group without the scope': (await world.createUserKey(two.id)).key,
    'a member of the group': three.key,
    'a former member of the group': former.key,
    'an owner of another group': four.key,
    'an agent of the group': (await world.createAgentKey(homes.group.agent)).key,
  }
  const seen = await getUser(disabled.id)
  await replaceUser(seen, changed(seen, { role: 'admin', disabled: true }))
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

  it.each(routes)('%s', async route => {
    const row = rowOf(route)
    const wanted = Object.fromEntries(callers.map(caller => [caller, wantedOf(route, caller)]))
    const isRefused = (caller: CallerName) => Number(wanted[caller]) >= 400
    const refused = callers.filter(isRefused)
    const ids = { user: await idsFor(row, 'user'), group: await idsFor(row, 'group') }
    const before = await quietSnapshot()
    const refusals = await Promise.all(
      refused.map(caller => ask(route, ids[CALLERS[caller].about], { key: keys[caller] })),
    )
    const seen: Record<string, number | 'in'> = {}
    for (const [index, answer] of refusals.entries()) {
      seen[refused[index] ?? ''] = answer.status
      if (answer.status >= 400) expectRefusal(row, answer)
    }
    expect(await snapshot()).toEqual(before)
    // Each of the others with things of its own: what one did is not what the next one finds.
    const told: Record<string, string> = {}
    for (const caller of callers.filter(each => !isRefused(each))) {
      const own = await idsFor(row, CALLERS[caller].about)
      const answer = await ask(route, own, { key: keys[caller] })
      settled = undefined
      seen[caller] = wanted[caller] === 'in' && IN.includes(answer.status) ? 'in' : answer.status
      told[caller] = answer.text
      // Who sees lists of their own sees nothing of others.
      if (!isStranger(caller)) continue
      for (const { principal, agent } of Object.values(homes)) {
        expect(answer.text).not.toContain(principal)
        expect(answer.text).not.toContain(agent)
      }
    }
    expect(seen, JSON.stringify(told)).toEqual(wanted)
  })

  it.each(Object.keys(LISTS))('%s of a principal', async route => {
    const row = LISTS[route] as Row
    const [method = '', path] = route.split(' ')
    const seen: Record<string, number> = {}
    for (const caller of callers) {
      const { principal, agent } = homes[CALLERS[caller].about]
      const as = { key: keys[caller] }
      const answer = await world.request(method, `${path}?principal_id=${principal}`, as)
      seen[caller] = answer.status
      if (answer.status !== 200) {
        expect(answer.text).not.toContain(agent)
        continue
      }
      const items = answer.body.data as { principal_id?: string }[]
      const owners = items.flatMap(item => item.principal_id ?? [])
      expect(owners.filter(id => id !== principal)).toEqual([])
      if (NEVER_EMPTY.includes(route)) expect(owners).not.toEqual([])
    }
    expect(seen).toEqual(
      Object.fromEntries(callers.map(caller => [caller, expected(row, askerOf(caller, row))])),
    )
  })

  it.each(routes)('%s for the owner who has signed in', async route => {
    const row = rowOf(route)
    const wanted = row.signedIn ?? expected(row, askerOf('the owner', row))
    const { headers } = await makeSession(owner.id)
    const answer = await ask(route, await idsFor(row, 'user'), { key: null, headers })
    settled = undefined
    if (OPERATION.test(route)) expect(IN, answer.text).toContain(answer.status)
    else expect(answer.status, answer.text).toBe(wanted)
  })

  const writes = routes.filter(route => {
    const row = rowOf(route)
    return !/^(GET|HEAD) /.test(route) && !('for' in row && row.for === 'everyone')
  })

  it.each(writes)('%s for a page of another site', async route => {
    const { headers, cookie } = await makeSession(owner.id)
    const ids = await idsFor(rowOf(route), 'user')
    settled = undefined
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

/** What is named nowhere else than in a body is as foreign as in a path. */
describe('an id in a body', () => {
  const stranger = () => ({ key: keys['an owner of another group'] })
  const statusOf = async (method: string, path: string, body: unknown, as = stranger()) =>
    (await world.request(method, path, { body, ...as })).status

  it('of a foreign principal owns no new agent', async () => {
    for (const principal_id of [owner.id, group, newId('user'), newId('group')]) {
      const body = { name: 'A', model: { provider: 'rehearsal', name: 'script' }, principal_id }
      expect(await statusOf('POST', '/api/v1/agents', body)).toBe(404)
    }
  })

  it('of a foreign user gets no key from who is no admin, and one of nobody none at all', async () => {
    const body = (user_id: string) => ({ name: 'A', user_id })
    expect(await statusOf('POST', '/api/v1/keys', body(owner.id))).toBe(404)
    const admin = { key: world.adminKey }
    expect(await statusOf('POST', '/api/v1/keys', body(newId('user')), admin)).toBe(404)
  })

  it('of nobody becomes no member, and a foreign member is not changed by way of another group', async () => {
    const as = { key: members.owner.key }
    const path = `/api/v1/groups/${group}/members`
    expect(await statusOf('POST', path, { user_id: newId('user') }, as)).toBe(404)
    expect(await statusOf('PATCH', `${path}/${owner.id}`, { role: 'admin' }, as)).toBe(404)
    expect(await statusOf('DELETE', `${path}/${owner.id}`, undefined, as)).toBe(404)
  })
})

/** The status that the table's words mean, or that who may get in is told of its arguments. */
const wantedOf = (route: string, caller: CallerName): number | 'in' => {
  const row = rowOf(route)
  const status = expected(row, askerOf(caller, row))
  if (!OPERATION.test(route)) return status
  // An agent runs its own, as no other key of an agent does.
  const isOwn = 'isItself' in CALLERS[caller] && status !== 401
  return status === 200 || isOwn ? 'in' : status
}

/** Whoever has nothing to do with either home. */
const isStranger = (caller: CallerName): boolean => {
  const { kind, toUser, toGroup, isItself }: Standing = CALLERS[caller]
  return kind === 'user' && !toUser && !toGroup && !isItself
}

const askerOf = (caller: CallerName, row: Row): Asker => {
  const { kind, about, toUser, toGroup, toInstance, ...rest }: Standing = CALLERS[caller]
  const whose = 'of' in row ? OWNER_OF[row.of] : 'instance'
  const relations = {
    counterpart: about === 'user' ? toUser : toGroup,
    user: toUser,
    group: toGroup,
    instance: toInstance,
  }
  const { isItself, ...others } = rest
  return {
    kind,
    relation: relations[whose],
    ...others,
    ...(isItself && whose === 'counterpart' ? { isItself } : {}),
  }
}

function rowOf(route: string): Row {
  return WALK[route] ?? RUN
}

const expectRefusal = (row: Row, answer: { text: string; body: unknown }) => {
  if (row.isWords) expect(answer.text).toMatch(/^[A-Z].+\.\n/)
  else
    expect(answer.body).toEqual({
      error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }),
    })
}

const ask = (
  route: string,
  ids: Ids,
  { headers, ...as }: { key: string | null; headers?: Record<string, string> },
) => {
  const row = rowOf(route)
  const [method = '', pattern = ''] = route.split(' ')
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const part = row.parts?.[name]
    if (typeof part === 'function') return part(ids)
    // A public link's file is any.
    return part ?? ids['of' in row ? row.of : 'media']
  })
  return world.request(method, path, {
    ...as,
    ...(row.body ? { body: row.body(ids) } : {}),
    headers: {
      ...headers,
      ...row.headers,
      ...(OPERATION.test(route) ? { 'espalier-agent': ids.agent } : {}),
    },
  })
}

/** What is stored while nothing changes it: from one refusal to the next. */
let settled: Record<string, unknown> | undefined

/** What is stored once nothing runs any more of what earlier requests began. */
const quietSnapshot = async () =>
  settled ??
  until('nothing runs', async () => {
    const before = await snapshot()
    await new Promise(resolve => setTimeout(resolve, QUIET_MS))
    if (world.running() > 0) return undefined
    return isDeepStrictEqual(await snapshot(), before) ? before : undefined
  })

/** Things of a home, fresh where a route may use them up. */
const idsFor = async (row: Row, about: 'user' | 'group'): Promise<Ids> => {
  const home = homes[about]
  const ids: Ids = {
    ...home,
    user: owner.id,
    group,
    spareAgent: '',
    task: '',
    call: '',
    unknownCall: '',
    key: '',
    session: '',
    spareGroup: '',
    member: '',
    invitation: '',
    llmConfiguration: '',
    subscription: '',
    newcomer: '',
  }
  if (!('of' in row)) return ids
  const make = MAKERS[row.of]
  if (!make) return ids
  settled = undefined
  return { ...ids, ...(await make(home)) }
}

const MAKERS: Partial<Record<Thing, (home: Home) => Promise<Partial<Ids>>>> = {
  group: async () => ({ newcomer: (await world.createPerson()).id }),
  spareAgent: async ({ principal }) => ({
    spareAgent: await world.createAgent([], { principal_id: principal }),
  }),
  // A task that writes nothing any more while it is looked at.
  task: async ({ agent }) => {
    const task = await world.createTask(agent, 'Hello')
    await world.untilTask(task, 'COMPLETED')
    return { task }
  },
  call: async home => ({ call: await waitingCall(home) }),
  unknownCall: async home => {
    const unknownCall = await waitingCall(home)
    await table.update(ToolCall, callKey(unknownCall), { set: { status: 'UNKNOWN' } })
    return { unknownCall }
  },
  key: async ({ principal, agent }) => ({
    key:
      principal === owner.id
        ? (await world.createUserKey(owner.id)).keyId
        : (await world.createAgentKey(agent)).id,
  }),
  session: async () => ({ session: (await makeSession(owner.id)).session.id }),
  spareGroup: async () => ({ spareGroup: await groupOf(members) }),
  member: async () => {
    const person = await world.createPerson()
    await join(person, 'member')
    return { member: person.id }
  },
  llmConfiguration: async ({ principal }) => ({
    llmConfiguration: dataOf<{ id: string }>(
      await world.request('POST', '/api/v1/llm-configurations', {
        body: { name: 'A', provider: 'rehearsal', model: 'script', owner: principal },
      }),
    ).id,
  }),
  subscription: async ({ principal }) => {
    const path = '/api/v1/subscriptions'
    // There may be few at a time.
    const former = await world.request('GET', `${path}?principal_id=${principal}`)
    for (const { id } of dataOf<{ id: string }[]>(former))
      await world.request('DELETE', `${path}/${id}`, { headers: { 'if-match': '*' } })
    const body = { name: 'A', url: NOBODY, principal_id: principal }
    const made = await world.request('POST', path, { body })
    return { subscription: dataOf<{ id: string }>(made).id }
  },
  invitation: async () => ({
    invitation: dataOf<{ id: string }>(
      await world.request('POST', '/api/v1/invitations', { body: {} }),
    ).id,
  }),
}

const waitingCall = async ({ agent, media }: Home): Promise<Id<'call'>> => {
  const answer = await world.run(agent, 'media.get_public_url', { media_id: media })
  const { call_id, digest } = answer.body.data as { call_id: Id<'call'>; digest: string }
  digests.set(call_id, digest)
  return call_id
}

const join = ({ id: userId }: Person, role: GroupRole) =>
  addMember({ groupId: group, userId, role, by: members.owner.id })

const groupOf = async ({ owner: first, ...rest }: Record<GroupRole, Person>) => {
  const id = newId('group')
  await createGroup({ id, name: 'Gardeners' }, { ownerId: first.id })
  for (const [role, { id: userId }] of Object.entries(rest))
    await addMember({ groupId: id, userId, role: role as GroupRole, by: first.id })
  return id
}

/** A principal's agent with every operation of every tool, and a file that the agent made. */
const homeOf = async ({ key }: Person, principal: Home['principal']): Promise<Home> => {
  const agent = await world.createAgent(Object.keys(tools), { key, principal_id: principal })
  const target = await world.createAgent(['time'], { key, principal_id: principal })
  await world.setSettings(agent, 'sub_agent', { allowed_target_agents: [target] })
  for (const { name: tool, operations } of await allTools(tools))
    for (const { name, enabledByDefault } of Object.values(operations))
      if (!enabledByDefault) await world.override(agent, `${tool}.${name}`, { enabled: true })
  const created = await world.run(agent, 'media.create_media', { filename: 'a', content: 'A' })
  const { media } = created.body.data as { media: [string] }
  return { principal, agent, media: media[0] }
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
    const answer = await world.run(homes.user.agent, 'time.now', {}, { key })
    expect(answer.status).toBe(404)
    expect(dataOf(await world.run(undefined, 'time.now', {}, { key }))).toMatchObject({
      status: 'COMPLETED',
    })
  })
})
