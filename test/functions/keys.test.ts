import { describe, expect, it } from 'vitest'
import { type Id, newId } from '../../lib/core/ids.ts'
import * as table from '../../lib/data/table.ts'
import { currentUsage } from '../../lib/data/usage.ts'
import { createGroup } from '../../lib/principal/group.ts'
import { createKey as storeKey } from '../../lib/principal/key.ts'
import { KEY_USE_MINUTES, KeyUse, keyUseKey } from '../../lib/principal/key-use.ts'
import { addMember } from '../../lib/principal/member.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf, type Person } from '../world.ts'

type Key = {
  id: Id<'key'>
  name: string
  acts_for: string
  scopes: string[]
  state: string
  created_by: string | null
  expires_at: string | null
  revoked_at: string | null
  last_used_at: string | null
}

useWorld()

const KEYS = '/api/v1/keys'
const SOON = '2098-01-01T00:00:00.000Z'
const LATER = '2099-01-01T00:00:00.000Z'
const post = (key: string, body: object, headers: Record<string, string> = {}) =>
  world.request('POST', KEYS, { key, body, headers })
const listOf = async (key: string, query = ''): Promise<Key[]> =>
  dataOf(await world.request('GET', `${KEYS}${query}`, { key }))
const codeOf = (answer: { body: { error?: { code: string } } }) => answer.body.error?.code
const named = (keys: Key[], name: string) => keys.find(key => key.name === name)

const groupOf = async (owner: Person, ...rest: [Person, 'admin' | 'member'][]) => {
  const groupId = newId('group')
  await createGroup({ id: groupId, name: 'Gardeners' }, { ownerId: owner.id })
  for (const [{ id: userId }, role] of rest)
    await addMember({ groupId, userId, role, by: owner.id })
  return groupId
}

describe('a key for oneself', () => {
  it('is shown once, and works', async () => {
    const ada = await world.createPerson()
    const answer = await post(ada.key, { name: 'Laptop', expires_at: LATER })
    const made = dataOf<{ id: string; key: string }>(answer)
    expect(made).toMatchObject({ name: 'Laptop', scopes: [], expires_at: LATER })
    const list = await listOf(made.key)
    expect(named(list, 'Laptop')).toMatchObject({
      id: made.id,
      acts_for: ada.id,
      state: 'active',
      created_by: ada.id,
      expires_at: LATER,
    })
    expect(JSON.stringify(list)).not.toContain(made.key)
    expect(JSON.stringify(list)).not.toContain(made.key.slice(-43))
  })

  it('has no scope that the key lacks that makes it', async () => {
    const ada = await world.createPerson()
    expect(codeOf(await post(ada.key, { name: 'A', scopes: ['decide'] }))).toBe('FORBIDDEN')
    const bob = await world.createPerson(['decide'])
    const { key } = dataOf<{ key: string }>(await post(bob.key, { name: 'A', scopes: ['decide'] }))
    expect(dataOf(await post(key, { name: 'B', scopes: ['decide'] }))).toMatchObject({
      scopes: ['decide'],
    })
    expect(codeOf(await post(bob.key, { name: 'A', scopes: ['admin'] }))).toBe('VALIDATION_ERROR')
  })

  it('ends with the key that makes it, or before', async () => {
    const ada = await world.createPerson()
    const { key } = dataOf<{ key: string }>(await post(ada.key, { name: 'A', expires_at: SOON }))
    expect(dataOf(await post(key, { name: 'B' }))).toMatchObject({ expires_at: SOON })
    expect(dataOf(await post(key, { name: 'B', expires_at: SOON }))).toMatchObject({
      expires_at: SOON,
    })
    expect(codeOf(await post(key, { name: 'B', expires_at: LATER }))).toBe('FORBIDDEN')
    // So does an agent's.
    const agent = await world.createAgent([], { key: ada.key })
    const path = `/api/v1/agents/${agent}/keys`
    const ofAgent = (body: object) => world.request('POST', path, { key, body })
    expect(dataOf(await ofAgent({ name: 'C' }))).toMatchObject({ expires_at: SOON })
    expect(codeOf(await ofAgent({ name: 'C', expires_at: LATER }))).toBe('FORBIDDEN')
  })

  it('is made once for an Idempotency-Key, and not shown again', async () => {
    const ada = await world.createPerson()
    const headers = { 'idempotency-key': 'k' }
    const { id } = dataOf<Key>(await post(ada.key, { name: 'A' }, headers))
    const again = await post(ada.key, { name: 'A' }, headers)
    expect(again.body.error).toMatchObject({ code: 'INVALID_STATE', details: { id } })
    expect((await listOf(ada.key)).filter(({ name }) => name === 'A')).toHaveLength(1)
  })

  it('is no agent’s to make, list or give', async () => {
    const agent = await world.createAgent([])
    const { key } = await world.createAgentKey(agent)
    expect(codeOf(await post(key, { name: 'A' }))).toBe('FORBIDDEN')
    expect(codeOf(await world.request('GET', KEYS, { key }))).toBe('FORBIDDEN')
  })
})

describe('the list of keys', () => {
  it('tells revoked and expired ones', async () => {
    const ada = await world.createPerson()
    const gone = dataOf<Key>(await post(ada.key, { name: 'Revoked' }))
    await world.request('DELETE', `${KEYS}/${gone.id}`, { key: ada.key })
    const owner = { subjectId: ada.id, principalId: ada.id, scopes: [] }
    await storeKey({ name: 'Expired', ...owner, expiresAt: '2020-01-01T00:00:00.000Z' })
    const list = await listOf(ada.key)
    expect(named(list, 'Revoked')).toMatchObject({
      state: 'revoked',
      revoked_at: expect.any(String),
    })
    expect(named(list, 'Expired')).toMatchObject({ state: 'expired', revoked_at: null })
  })

  it('of a principal has those of its agents, for who manages them', async () => {
    const [ada, bob, eve] = await Promise.all([
      world.createPerson(),
      world.createPerson(),
      world.createPerson(),
    ])
    const group = await groupOf(ada, [bob, 'admin'], [eve, 'member'])
    const agent = await world.createAgent([], { key: ada.key, principal_id: group })
    const path = `/api/v1/agents/${agent}/keys`
    const made = dataOf<Key>(
      await world.request('POST', path, { key: ada.key, body: { name: 'Nightly' } }),
    )
    const query = `?principal_id=${group}`
    expect(await listOf(bob.key, query)).toMatchObject([
      { id: made.id, acts_for: agent, created_by: ada.id },
    ])
    expect(dataOf(await world.request('GET', path, { key: bob.key }))).toMatchObject([
      { id: made.id },
    ])
    expect(codeOf(await world.request('GET', `${KEYS}${query}`, { key: eve.key }))).toBe(
      'FORBIDDEN',
    )
    expect((await world.request('GET', path, { key: eve.key })).status).toBe(403)
    expect((await world.request('DELETE', `${KEYS}/${made.id}`, { key: bob.key })).status).toBe(200)
    const foreign = `${KEYS}?principal_id=${ada.id}`
    expect((await world.request('GET', foreign, { key: bob.key })).status).toBe(404)
    expect(await listOf(world.adminKey, `?principal_id=${ada.id}`)).toHaveLength(1)
    expect((await world.request('GET', `${KEYS}?principal_id=${newId('user')}`)).status).toBe(404)
  })

  it('of an agent goes with the agent to another principal, and so does who revokes them', async () => {
    const [ada, bob] = await Promise.all([world.createPerson(), world.createPerson()])
    const agent = await world.createAgent(['time'], { key: ada.key })
    const { id, key } = await world.createAgentKey(agent)
    const moved = await world.request('POST', `/api/v1/agents/${agent}/transfer`, {
      body: { principal_id: bob.id },
      headers: { 'if-match': '"1"' },
    })
    expect(moved.status).toBe(200)
    expect((await world.run(undefined, 'time.now', {}, { key })).status).toBe(200)
    expect((await world.request('DELETE', `${KEYS}/${id}`, { key: ada.key })).status).toBe(404)
    expect(await listOf(bob.key)).toEqual(
      expect.arrayContaining([expect.objectContaining({ id, principal_id: bob.id })]),
    )
    expect((await world.request('DELETE', `${KEYS}/${id}`, { key: bob.key })).status).toBe(200)
    expect((await world.run(undefined, 'time.now', {}, { key })).status).toBe(401)
  })
})

describe('a key', () => {
  it('of an agent ends with the agent', async () => {
    const ada = await world.createPerson()
    const agent = await world.createAgent(['time'], { key: ada.key })
    const { id, key } = await world.createAgentKey(agent)
    const run = async () => (await world.run(undefined, 'time.now', {}, { key })).status
    expect(await run()).toBe(200)
    const headers = { 'if-match': '*' }
    const removed = await world.request('DELETE', `/api/v1/agents/${agent}`, { headers })
    expect(removed.status, removed.text).toBeLessThan(300)
    expect(await run()).toBe(401)
    expect((await world.request('GET', '/api/v1/principals/me', { key })).status).toBe(401)
    expect(await listOf(ada.key)).toEqual(
      expect.arrayContaining([expect.objectContaining({ id, state: 'revoked' })]),
    )
  })

  it('of a former member opens nothing of the group, and is no less the user’s own', async () => {
    const [ada, bob] = await Promise.all([world.createPerson(), world.createPerson()])
    const group = await groupOf(ada, [bob, 'admin'])
    const agent = await world.createAgent(['time'], { key: ada.key, principal_id: group })
    const path = `/api/v1/agents/${agent}`
    expect((await world.request('GET', path, { key: bob.key })).status).toBe(200)
    const membership = `/api/v1/groups/${group}/members/${bob.id}`
    expect((await world.request('DELETE', membership, { key: ada.key })).status).toBe(200)
    expect((await world.request('GET', path, { key: bob.key })).status).toBe(404)
    expect((await world.run(agent, 'time.now', {}, { key: bob.key })).status).toBe(404)
    expect(await listOf(bob.key)).toHaveLength(1)
  })
})

describe('when a key was last used', () => {
  const usedAt = async (id: string, key: string) =>
    (await listOf(key)).find(each => each.id === id)?.last_used_at

  it('is told to a few minutes', async () => {
    const ada = await world.createPerson()
    const made = dataOf<Key & { key: string }>(await post(ada.key, { name: 'A' }))
    expect(await usedAt(made.id, ada.key)).toBeNull()
    await world.request('GET', '/api/v1/principals/me', { key: made.key })
    const first = await usedAt(made.id, ada.key)
    expect(Date.parse(first ?? '')).toBeGreaterThan(Date.now() - 60_000)
    await world.request('GET', '/api/v1/principals/me', { key: made.key })
    expect(await usedAt(made.id, ada.key)).toBe(first)
    const before = new Date(Date.now() - KEY_USE_MINUTES * 60_000).toISOString()
    await table.update(KeyUse, keyUseKey(made.id), { set: { at: before } })
    await world.request('GET', '/api/v1/principals/me', { key: made.key })
    expect(await usedAt(made.id, ada.key)).not.toBe(before)
  })

  it('is kept with the call that an agent’s key makes, at no request of its own', async () => {
    const agent = await world.createAgent(['time'])
    const { id, key } = await world.createAgentKey(agent)
    const call = async () => {
      const { requests } = currentUsage()
      expect((await world.run(undefined, 'time.now', {}, { key })).status).toBe(200)
      return currentUsage().requests - requests
    }
    expect(await usedAt(id, world.adminKey)).toBeNull()
    expect(await call()).toBe(3)
    expect(Date.parse((await usedAt(id, world.adminKey)) ?? '')).toBeGreaterThan(0)
    expect(await call()).toBe(3)
  })

  it('is kept once of calls that come at once, and none of them fails', async () => {
    const agent = await world.createAgent(['time'])
    const { id, key } = await world.createAgentKey(agent)
    const calls = Array.from({ length: 20 }, () => world.run(undefined, 'time.now', {}, { key }))
    expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]))
    expect(await usedAt(id, world.adminKey)).toEqual(expect.any(String))
  })

  it('is not kept of a request whose key does not count', async () => {
    const ada = await world.createPerson()
    const made = dataOf<Key & { key: string }>(await post(ada.key, { name: 'A' }))
    const forged = `${made.key.slice(0, -1)}${made.key.endsWith('A') ? 'B' : 'A'}`
    expect((await world.request('GET', KEYS, { key: forged })).status).toBe(401)
    expect(await usedAt(made.id, ada.key)).toBeNull()
  })
})
