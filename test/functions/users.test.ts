import { describe, expect, it } from 'vitest'
import { listAudit } from '../../lib/audit/audit.ts'
import { type Id, newId } from '../../lib/core/ids.ts'
import { Name } from '../../lib/http/wire.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf } from '../world.ts'

type User = {
  id: Id<'user'>
  name: string
  role: string
  disabled: boolean
  disabled_at: string | null
}

useWorld()

const USERS = '/api/v1/users'
const at = ({ id }: { id: string }) => `${USERS}/${id}`
const make = async (body: object = { name: 'Ada' }): Promise<User> =>
  dataOf(await world.request('POST', USERS, { body }))
const change = (user: { id: string }, body: object, key?: string) =>
  world.request('PATCH', at(user), { body, ...(key === undefined ? {} : { key }) })
const keyFor = async ({ id }: User): Promise<string> => (await world.createUserKey(id)).key
const codeOf = (answer: { body: { error?: { code: string } } }) => answer.body.error?.code
const me = async (key: string) =>
  (await world.request('GET', '/api/v1/principals/me', { key })).status
const logOf = async ({ id }: { id: string }) =>
  (await listAudit('instance', { limit: 100 })).items.filter(({ target }) => target === id)

describe('an admin of the instance', () => {
  it('makes users, once for an Idempotency-Key, and lists them', async () => {
    const headers = { 'idempotency-key': 'a-user' }
    const post = (body: object) => world.request('POST', USERS, { body, headers })
    const [first, again] = [await post({ name: 'Ada' }), await post({ name: 'Ada' })]
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body).toEqual(first.body)
    expect(codeOf(await post({ name: 'Eve' }))).toBe('IDEMPOTENCY_MISMATCH')
    const user = dataOf<User>(first)
    expect(user).toMatchObject({ name: 'Ada', role: 'member', disabled: false, disabled_at: null })
    const all = dataOf<User[]>(await world.request('GET', `${USERS}?limit=100`))
    expect(all).toContainEqual(user)
    // The one whom the instance began with, too.
    expect(all.some(({ role }) => role === 'admin')).toBe(true)
    expect(await logOf(user)).toMatchObject([{ action: 'user-created', to: { name: 'Ada' } }])
  })

  it('lists users page by page', async () => {
    const made = [await make(), await make(), await make()]
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const answer = await world.request('GET', `${USERS}?limit=2&cursor=${cursor}`)
      seen.push(...dataOf<User[]>(answer).map(({ id }) => id))
      cursor = (answer.body as { next_cursor: string | null }).next_cursor
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(expect.arrayContaining(made.map(({ id }) => id)))
  })

  it('makes the first key of a user, who makes the next ones', async () => {
    const user = await make()
    const body = { name: 'First', user_id: user.id, scopes: ['decide'] }
    const { key } = dataOf<{ key: string }>(await world.request('POST', '/api/v1/keys', { body }))
    expect(dataOf(await world.request('GET', '/api/v1/principals/me', { key }))).toMatchObject({
      id: user.id,
      name: 'Ada',
      scopes: ['decide'],
    })
    const next = await world.request('POST', '/api/v1/keys', { key, body: { name: 'Second' } })
    expect(next.status).toBe(201)
    expect((await listAudit(user.id, { limit: 10 })).items).toMatchObject([
      { action: 'key-created', by: user.id },
      { action: 'key-created', to: { name: 'First', acts_for: user.id } },
    ])
  })

  it('renames, promotes and demotes, and the log says each', async () => {
    const user = await make()
    const key = await keyFor(user)
    expect(dataOf(await change(user, { name: 'Eva', role: 'admin' }))).toMatchObject({
      name: 'Eva',
      role: 'admin',
    })
    expect((await world.request('GET', USERS, { key })).status).toBe(200)
    await change(user, { role: 'member' })
    expect((await world.request('GET', USERS, { key })).status).toBe(403)
    await change(user, { role: 'member', name: 'Eva' })
    const told = (await logOf(user)).map(({ action, field, from, to }) => ({
      action,
      field,
      from,
      to,
    }))
    expect(told).toHaveLength(4)
    expect(told).toEqual(
      expect.arrayContaining([
        { action: 'user-changed', field: 'name', from: 'Ada', to: 'Eva' },
        { action: 'user-changed', field: 'role', from: 'member', to: 'admin' },
        { action: 'user-changed', field: 'role', from: 'admin', to: 'member' },
      ]),
    )
  })

  it('disables a user, whose keys and whose agents’ keys rest until the user is enabled', async () => {
    const user = await make()
    const key = await keyFor(user)
    const agent = await world.createAgent(['time'], { key })
    const { key: ofAgent } = await world.createAgentKey(agent)
    const run = async () => (await world.run(undefined, 'time.now', {}, { key: ofAgent })).status
    expect([await me(key), await me(ofAgent), await run()]).toEqual([200, 200, 200])
    const disabled = dataOf<User>(await change(user, { disabled: true }))
    expect(disabled).toMatchObject({ disabled: true, disabled_at: expect.any(String) })
    expect([await me(key), await me(ofAgent), await run()]).toEqual([401, 401, 401])
    // Again changes nothing, not even since when.
    expect(dataOf(await change(user, { disabled: true }))).toEqual(disabled)
    expect(dataOf(await change(user, { disabled: false }))).toMatchObject({ disabled_at: null })
    expect([await me(key), await me(ofAgent), await run()]).toEqual([200, 200, 200])
  })

  it('stays as long as there is no other', async () => {
    const admin = dataOf<User>(await world.request('GET', '/api/v1/principals/me'))
    expect(codeOf(await change(admin, { role: 'member' }))).toBe('ROLE_RULE_VIOLATION')
    expect(codeOf(await change(admin, { disabled: true }))).toBe('ROLE_RULE_VIOLATION')
    const other = await make({ name: 'Bob', role: 'admin' })
    const key = await keyFor(other)
    expect((await change(admin, { role: 'member' }, key)).status).toBe(200)
    expect(codeOf(await change(other, { disabled: true }, key))).toBe('ROLE_RULE_VIOLATION')
    expect((await change(admin, { role: 'admin' }, key)).status).toBe(200)
    expect((await change(other, { role: 'member' })).status).toBe(200)
  })

  it('finds no user who is not there', async () => {
    const nobody = { id: newId('user') }
    expect((await world.request('GET', at(nobody))).status).toBe(404)
    expect((await change(nobody, { name: 'A' })).status).toBe(404)
  })
})

describe('a user', () => {
  it('says what it is called, and nothing else of itself', async () => {
    const user = await make()
    const key = await keyFor(user)
    expect(dataOf(await change(user, { name: ' Eva ' }, key))).toMatchObject({ name: 'Eva' })
    expect(codeOf(await change(user, { role: 'admin' }, key))).toBe('FORBIDDEN')
    expect(codeOf(await change(user, { disabled: false }, key))).toBe('FORBIDDEN')
    const shown = await world.request('GET', at(user), { key })
    expect(dataOf(shown)).toMatchObject({ name: 'Eva', role: 'member' })
  })

  it('sees and changes nobody else, and no list', async () => {
    const [user, other] = [await make(), await make()]
    const key = await keyFor(user)
    expect((await world.request('GET', at(other), { key })).status).toBe(404)
    expect((await change(other, { name: 'A' }, key)).status).toBe(404)
    expect((await change(other, { role: 'admin' }, key)).status).toBe(404)
    expect((await world.request('GET', USERS, { key })).status).toBe(403)
    expect((await world.request('POST', USERS, { key, body: { name: 'A' } })).status).toBe(403)
  })

  it('has a name that fits a line', async () => {
    const most = Name.maxLength ?? 0
    const user = await make({ name: 'a'.repeat(most) })
    for (const name of ['a'.repeat(most + 1), ' ', ''])
      expect(codeOf(await change(user, { name }))).toBe('VALIDATION_ERROR')
  })
})
