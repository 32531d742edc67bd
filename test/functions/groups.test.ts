import { beforeEach, describe, expect, it } from 'vitest'
import { listAudit } from '../../lib/audit/audit.ts'
import { type Id, newId } from '../../lib/core/ids.ts'
import { deleteGroup } from '../../lib/principal/group.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf, type Person, snapshot } from '../world.ts'

type Group = { id: Id<'group'>; name: string; role: string | null; agent_count: number }
type Member = { user_id: string; name: string; role: string; disabled: boolean }

useWorld()

let ada: Person
let bob: Person
let eve: Person
let group: Group
beforeEach(async () => {
  ;[ada, bob, eve] = await Promise.all([
    world.createPerson(),
    world.createPerson(),
    world.createPerson(),
  ])
  group = dataOf(await as(ada)('POST', '/groups', { name: 'Gardeners' }))
})

const as =
  ({ key }: { key: string }) =>
  (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    world.request(method, `/api/v1${path}`, {
      key,
      headers,
      ...(body === undefined ? {} : { body }),
    })

const members = () => `/groups/${group.id}/members`
const member = ({ id }: Person) => `${members()}/${id}`
const add = (person: Person, role: string, by = ada) =>
  as(by)('POST', members(), { user_id: person.id, role })
const rolesOf = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    dataOf<Member[]>(await as(ada)('GET', members())).map(({ user_id, role }) => [user_id, role]),
  )
const codeOf = (answer: { body: { error?: { code: string } } }) => answer.body.error?.code
const logOf = async (owner: Id<'group'> | 'instance') =>
  (await listAudit(owner, { limit: 100 })).items

describe('a group', () => {
  it('is owned by whoever makes it, and is on that one’s lists', async () => {
    expect(group).toMatchObject({ name: 'Gardeners', role: 'owner', agent_count: 0 })
    expect(await rolesOf()).toEqual({ [ada.id]: 'owner' })
    expect(dataOf(await as(ada)('GET', '/groups'))).toMatchObject([{ id: group.id, role: 'owner' }])
    expect(dataOf(await as(ada)('GET', '/principals/me'))).toMatchObject({
      kind: 'user',
      name: 'Someone',
      groups: [{ id: group.id, name: 'Gardeners', role: 'owner' }],
    })
    expect(dataOf(await as(bob)('GET', '/groups'))).toEqual([])
    expect(dataOf(await as(bob)('GET', '/principals/me'))).toMatchObject({ groups: [] })
  })

  it('is made once for an Idempotency-Key, and refused another body under it', async () => {
    const make = (name: string) => as(bob)('POST', '/groups', { name }, { 'idempotency-key': 'g' })
    const first = await make('Cooks')
    const again = await make('Cooks')
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body).toEqual(first.body)
    expect(codeOf(await make('Bakers'))).toBe('IDEMPOTENCY_MISMATCH')
    expect(dataOf(await as(bob)('GET', '/groups'))).toHaveLength(1)
  })

  it('is on the list of all, which only admins of the instance see', async () => {
    expect(codeOf(await as(ada)('GET', '/groups?all=true'))).toBe('FORBIDDEN')
    const all = dataOf<Group[]>(await world.request('GET', '/api/v1/groups?all=true&limit=100'))
    expect(all.find(({ id }) => id === group.id)).toMatchObject({ role: null })
    expect(dataOf<Group[]>(await world.request('GET', '/api/v1/groups'))).toEqual([])
  })

  it('is listed page by page', async () => {
    for (const name of ['A', 'B']) await as(ada)('POST', '/groups', { name })
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const answer = await as(ada)('GET', `/groups?limit=1&cursor=${cursor}`)
      seen.push(...dataOf<Group[]>(answer).map(({ id }) => id))
      cursor = (answer.body as { next_cursor: string | null }).next_cursor
    }
    expect(new Set(seen).size).toBe(3)
  })

  it('is renamed by its owners and admins, and the log says from what', async () => {
    await add(bob, 'admin')
    await add(eve, 'member')
    const path = `/groups/${group.id}`
    expect(codeOf(await as(eve)('PATCH', path, { name: 'Weeds' }))).toBe('FORBIDDEN')
    expect(dataOf(await as(bob)('PATCH', path, { name: 'Growers' }))).toMatchObject({
      name: 'Growers',
      role: 'admin',
    })
    expect((await logOf(group.id))[0]).toMatchObject({
      by: bob.id,
      keyId: bob.keyId,
      action: 'group-changed',
      field: 'name',
      from: 'Gardeners',
      to: 'Growers',
    })
    const { length } = await logOf(group.id)
    await as(bob)('PATCH', path, { name: 'Growers' })
    expect(await logOf(group.id)).toHaveLength(length)
  })

  it('does not end while it owns agents, and then ends with its members', async () => {
    await add(bob, 'admin')
    const agent = await world.createAgent([], { key: ada.key, principal_id: group.id })
    expect(dataOf(await as(ada)('GET', `/groups/${group.id}`))).toMatchObject({ agent_count: 1 })
    const path = `/groups/${group.id}`
    expect(codeOf(await as(bob)('DELETE', path))).toBe('FORBIDDEN')
    const refused = await as(ada)('DELETE', path)
    expect(refused.body.error).toMatchObject({ code: 'GROUP_HAS_AGENTS', details: { agents: 1 } })
    const removed = await as(ada)('DELETE', `/agents/${agent}`, undefined, { 'if-match': '"1"' })
    expect(removed.status).toBe(200)
    expect(dataOf(await as(ada)('DELETE', path))).toEqual({ id: group.id, deleted: true })
    expect((await as(ada)('GET', path)).status).toBe(404)
    expect((await as(ada)('DELETE', path)).status).toBe(404)
    for (const person of [ada, bob]) expect(dataOf(await as(person)('GET', '/groups'))).toEqual([])
    expect(await logOf('instance')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ by: ada.id, action: 'group-deleted', target: group.id }),
      ]),
    )
    const body = { name: 'A', model: { provider: 'rehearsal', name: 'script' } }
    const late = await as(ada)('POST', '/agents', { ...body, principal_id: group.id })
    expect(late.status).toBe(404)
  })
})

describe('members', () => {
  it('are taken in by owners and admins, and once', async () => {
    expect((await add(bob, 'admin')).status).toBe(201)
    const added = await add(eve, 'member', bob)
    expect(dataOf(added)).toMatchObject({
      user_id: eve.id,
      name: 'Someone',
      role: 'member',
      disabled: false,
      added_by: bob.id,
    })
    const again = await add(eve, 'member', bob)
    expect([added.status, again.status]).toEqual([201, 200])
    expect(again.body).toEqual(added.body)
    expect(codeOf(await add(eve, 'admin', bob))).toBe('INVALID_STATE')
    expect(codeOf(await add(ada, 'member', eve))).toBe('FORBIDDEN')
    expect(await rolesOf()).toEqual({ [ada.id]: 'owner', [bob.id]: 'admin', [eve.id]: 'member' })
    const log = (await logOf(group.id)).filter(({ action }) => action === 'member-added')
    expect(log).toMatchObject([
      { target: eve.id, to: 'member', by: bob.id },
      { target: bob.id, to: 'admin', by: ada.id },
    ])
  })

  it('become and cease to be owners by owners alone', async () => {
    await add(bob, 'admin')
    expect(codeOf(await add(eve, 'owner', bob))).toBe('FORBIDDEN')
    await add(eve, 'member')
    expect(codeOf(await as(bob)('PATCH', member(eve), { role: 'owner' }))).toBe('FORBIDDEN')
    expect(codeOf(await as(bob)('PATCH', member(ada), { role: 'member' }))).toBe('FORBIDDEN')
    expect(codeOf(await as(bob)('DELETE', member(ada)))).toBe('FORBIDDEN')
    expect((await as(ada)('PATCH', member(eve), { role: 'owner' })).status).toBe(200)
    expect((await as(eve)('PATCH', member(ada), { role: 'member' })).status).toBe(200)
    expect(await rolesOf()).toEqual({ [ada.id]: 'member', [bob.id]: 'admin', [eve.id]: 'owner' })
    expect((await logOf(group.id)).filter(({ field }) => field === 'role')).toMatchObject([
      { by: eve.id, target: ada.id, from: 'owner', to: 'member' },
      { by: ada.id, target: eve.id, from: 'member', to: 'owner' },
    ])
  })

  it('leave by themselves, all but the last owner', async () => {
    await add(bob, 'member')
    await add(eve, 'admin')
    for (const person of [bob, eve])
      expect((await as(person)('DELETE', member(person))).status).toBe(200)
    expect(codeOf(await as(ada)('DELETE', member(ada)))).toBe('ROLE_RULE_VIOLATION')
    expect(codeOf(await as(ada)('PATCH', member(ada), { role: 'admin' }))).toBe(
      'ROLE_RULE_VIOLATION',
    )
    await add(bob, 'owner')
    expect((await as(ada)('DELETE', member(ada))).status).toBe(200)
    expect((await as(ada)('GET', `/groups/${group.id}`)).status).toBe(404)
    expect((await as(bob)('GET', members())).status).toBe(200)
  })

  it('take nobody else out unless they are owners or admins', async () => {
    await add(bob, 'member')
    await add(eve, 'member')
    expect(codeOf(await as(bob)('DELETE', member(eve)))).toBe('FORBIDDEN')
    const stranger = await world.createPerson()
    expect((await as(ada)('DELETE', member(stranger))).status).toBe(404)
    expect((await as(stranger)('DELETE', member(stranger))).status).toBe(404)
    expect((await as(ada)('DELETE', member(eve))).status).toBe(200)
  })

  it('use what the group owns as their role says, and not any more once they are out', async () => {
    const agent = await world.createAgent(['time'], { key: ada.key, principal_id: group.id })
    await add(bob, 'member')
    const run = () => world.run(agent, 'time.now', {}, { key: bob.key })
    expect((await run()).status).toBe(200)
    expect((await as(bob)('GET', `/agents/${agent}`)).status).toBe(200)
    expect((await as(bob)('POST', `/agents/${agent}/tools/time/enable`)).status).toBe(403)
    expect((await as(bob)('GET', `/keys?principal_id=${group.id}`)).status).toBe(403)
    await as(ada)('DELETE', member(bob))
    expect((await run()).status).toBe(404)
    expect((await as(bob)('GET', `/agents/${agent}`)).status).toBe(404)
    expect((await as(bob)('GET', `/agents?principal_id=${group.id}`)).status).toBe(404)
  })

  it('are governed by an admin of the instance, who is none', async () => {
    const path = `/api/v1${members()}`
    const body = { user_id: bob.id, role: 'owner' }
    expect((await world.request('POST', path, { body })).status).toBe(201)
    expect((await world.request('DELETE', `${path}/${ada.id}`)).status).toBe(200)
    expect(await as(bob)('GET', members()).then(answer => dataOf<Member[]>(answer))).toMatchObject([
      { user_id: bob.id, role: 'owner' },
    ])
    expect(codeOf(await world.request('DELETE', `${path}/${bob.id}`))).toBe('ROLE_RULE_VIOLATION')
    expect((await world.request('GET', `/api/v1/groups/${newId('group')}`)).status).toBe(404)
  })
})

describe('what a group had', () => {
  const SECRET = 'a-secret-of-the-group'

  const furnish = async (headers: Record<string, string> = {}) => {
    const { id, name } = dataOf<Group>(await as(ada)('POST', '/groups', { name: 'Whole' }, headers))
    const settings = `/principals/${id}/tools/time/settings`
    dataOf(await as(ada)('PUT', settings, { timezone: 'Europe/Rome' }))
    const model = { name: 'Ours', provider: 'openai', model: 'gpt-5', api_key: SECRET }
    dataOf(await as(ada)('POST', '/llm-configurations', { ...model, owner: id }))
    const hook = { name: 'Ours', url: 'https://example.com/hook', principal_id: id }
    dataOf(await as(ada)('POST', '/subscriptions', hook))
    dataOf(await as(ada)('POST', `/groups/${id}/members`, { user_id: bob.id }))
    return { id, name }
  }
  /** The rows that are about a group, but for its log and for what says that it was there. */
  const leftOf = async (id: string) =>
    Object.entries(await snapshot())
      .filter(([key, row]) => `${key} ${JSON.stringify(row)}`.includes(id))
      .map(([key]) => key)
      .filter(key => !key.startsWith('audit#') && key !== `${id} / remains`)

  it('goes with it: settings, LLM configurations, subscriptions and members', async () => {
    const { id } = await furnish()
    expect(await leftOf(id)).toHaveLength(7)
    dataOf(await as(ada)('DELETE', `/groups/${id}`))
    expect(await leftOf(id)).toEqual([])
  })

  it('goes once whoever ended it asks again, where that was cut short', async () => {
    const group = await furnish()
    await deleteGroup(group, { by: ada.id })
    expect((await leftOf(group.id)).length).toBeGreaterThan(3)
    for (const person of [bob, eve])
      expect((await as(person)('DELETE', `/groups/${group.id}`)).status).toBe(404)
    dataOf(await as(ada)('DELETE', `/groups/${group.id}`))
    expect(await leftOf(group.id)).toEqual([])
    expect((await as(ada)('DELETE', `/groups/${group.id}`)).status).toBe(404)
    const other = await furnish()
    await deleteGroup(other, { by: ada.id })
    dataOf(await world.request('DELETE', `/api/v1/groups/${other.id}`))
    expect(await leftOf(other.id)).toEqual([])
  })

  it('is nobody’s again: no Idempotency-Key brings the group back', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const { id } = await furnish(headers)
    await as(ada)('DELETE', `/groups/${id}`)
    const again = await as(ada)('POST', '/groups', { name: 'Whole' }, headers)
    expect([again.status, codeOf(again)]).toEqual([409, 'INVALID_STATE'])
    expect(await leftOf(id)).toEqual([])
  })
})
