import { expect, test } from 'vitest'
import { agentKey } from '../../../lib/agent/agent.ts'
import { newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { transact } from '../../../lib/data/transact.ts'
import { currentUsage } from '../../../lib/data/usage.ts'
import { authenticate } from '../../../lib/principal/caller.ts'
import {
  createKey,
  getKey,
  isValid,
  listKeys,
  pageAgentKeys,
  pageKeys,
  readClaim,
  revokeKey,
} from '../../../lib/principal/key.ts'
import { keepUse, usesOf } from '../../../lib/principal/key-use.ts'
import { relationTo } from '../../../lib/principal/permission.ts'
import { createUser, type PrincipalId, type User } from '../../../lib/principal/principal.ts'
import { changed, getUser, replaceUser } from '../../../lib/principal/user.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'

useLocalTable()

const clock = clockAt('2026-01-01T00:00:00.000Z')

const makeUser = async (role: User['role'] = 'member') => {
  const id = newId('user')
  await createUser({ id, name: 'Ada', role, createdAt: clock.now().toISOString() })
  return id
}
const makeKey = async (options: Parameters<typeof createKey>[1] & { expiresAt?: string } = {}) => {
  const user = await makeUser()
  const { expiresAt, ...rest } = options
  const owner = { name: 'laptop', subjectId: user, principalId: user, scopes: [] }
  const made = await createKey(
    { ...owner, ...(expiresAt ? { expiresAt } : {}) },
    { clock, ...rest },
  )
  return { user, ...made }
}
/** The same key with its last character changed. */
const forged = (text: string) => text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A')

test('a key names its rows, and proves its caller', async () => {
  const { user, key, text } = await makeKey()
  expect(readClaim(text)).toEqual({ keyId: key.id, subjectId: user, principalId: user })
  expect(await authenticate(text, clock)).toEqual({
    kind: 'user',
    id: user,
    role: 'member',
    keyId: key.id,
    scopes: [],
    principalId: user,
  })
})

const makeAgentKey = async (principalId: PrincipalId) => {
  const agent = newId('agent')
  await transact([{ insert: { id: agent, principalId }, key: agentKey(agent) }])
  const owner = { name: 'bot', subjectId: agent, principalId, scopes: [] }
  return { agent, ...(await createKey(owner, { clock })) }
}
const isRefused = (text: string) =>
  expect(authenticate(text, clock)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })

test('an agent’s key names the agent and the principal that owns it', async () => {
  const group = newId('group')
  const { agent, text } = await makeAgentKey(group)
  const caller = await authenticate(text, clock)
  expect(caller).toMatchObject({ kind: 'agent', id: agent, principalId: group })
  expect(await relationTo(caller, group)).toBeUndefined()
})

test('an agent’s key ends with the agent', async () => {
  const { agent, text } = await makeAgentKey(newId('group'))
  await table.remove(agentKey(agent))
  await isRefused(text)
})

test('an agent’s key goes with the agent to another principal', async () => {
  const [one, other] = [await makeUser(), await makeUser()]
  const { agent, text } = await makeAgentKey(one)
  await transact([{ key: agentKey(agent), update: { set: { principalId: other } } }])
  expect(await authenticate(text, clock)).toMatchObject({ id: agent, principalId: other })
})

test('neither a disabled user’s keys nor those of the user’s agents count, until it is enabled', async () => {
  const { user: id, text } = await makeKey()
  const { text: ofAgent } = await makeAgentKey(id)
  const user = await getUser(id)
  const disabled = await replaceUser(user, changed(user, { disabled: true }))
  await isRefused(text)
  await isRefused(ofAgent)
  await replaceUser(disabled, changed(disabled, { disabled: false }))
  expect(await authenticate(text, clock)).toMatchObject({ id })
  expect((await authenticate(ofAgent, clock)).principalId).toBe(id)
})

test('the text of a key is stored nowhere', async () => {
  const { key, text } = await makeKey()
  const secret = text.slice(-43)
  expect(JSON.stringify(await getKey(key.id))).not.toContain(secret)
})

test('a wrong secret is refused, whatever rows it names', async () => {
  const { key, text } = await makeKey()
  expect(isValid(key, forged(text), clock)).toBe(false)
  await expect(authenticate(forged(text), clock)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
})

test('a key whose text names another subject is refused: the hash covers it all', async () => {
  const { key, text, user } = await makeKey()
  const admin = await makeUser('admin')
  const swapped = text.replaceAll(user.slice('user_'.length), admin.slice('user_'.length))
  expect(readClaim(swapped)).toEqual({ keyId: key.id, subjectId: admin, principalId: admin })
  await expect(authenticate(swapped, clock)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
})

test('a key counts until it expires, and not at that moment', async () => {
  const { text } = await makeKey({ expiresAt: '2026-06-01T00:00:00.000Z' })
  expect((await authenticate(text, clockAt('2026-05-31T23:59:59.999Z'))).kind).toBe('user')
  await expect(authenticate(text, clockAt('2026-06-01T00:00:00.000Z'))).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
  })
})

test('a revoked key is refused for good, and revoking again keeps the first time', async () => {
  const { key, text } = await makeKey()
  await revokeKey(key.id, { clock: clockAt('2026-02-01T00:00:00.000Z') })
  await revokeKey(key.id, { clock: clockAt('2026-03-01T00:00:00.000Z') })
  expect((await getKey(key.id))?.revokedAt).toBe('2026-02-01T00:00:00.000Z')
  await expect(authenticate(text, clock)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
})

test.each(['', 'Bearer', 'sk-foreign-0123456789', 'esp_x', '💥', 'esp_'.repeat(500)])(
  'the foreign text %j is no key',
  async text => {
    await expect(authenticate(text, clock)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  },
)

test('an operator may choose a key’s text, and then it proves its caller too', async () => {
  const chosen = 'a-text-of-the-operator-with-enough-characters'
  const { user } = await makeKey({ text: chosen })
  expect(await authenticate(chosen, clock)).toMatchObject({ kind: 'user', id: user })
  await expect(authenticate(`${chosen}x`, clock)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
})

test('a key made again with a chosen text is the one that is there', async () => {
  const text = 'another-text-of-the-operator-with-enough-characters'
  const first = await makeKey({ text })
  const second = await makeKey({ text })
  expect(second.key).toEqual(first.key)
})

test('the key of a user who is gone is refused', async () => {
  const ghost = newId('user')
  const owner = { name: 'x', subjectId: ghost, principalId: ghost, scopes: [] }
  const { text } = await createKey(owner, { clock })
  await expect(authenticate(text, clock)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
})

test('a principal’s keys are listed, and nobody else’s', async () => {
  const { user, key } = await makeKey()
  await makeKey()
  expect((await listKeys(user)).map(({ id }) => id)).toEqual([key.id])
})

test('what a principal owns is governed by itself and by admins', async () => {
  const admin = await makeUser('admin')
  const owner = { name: 'x', subjectId: admin, principalId: admin, scopes: [] }
  const { text } = await createKey(owner, { clock })
  const [user, other] = [await makeKey(), newId('user')]
  expect(await relationTo(await authenticate(text, clock), other)).toBe('instance-admin')
  const member = await authenticate(user.text, clock)
  expect(await relationTo(member, user.user)).toBe('self')
  expect(await relationTo(member, other)).toBeUndefined()
})

test('an agent’s keys are listed by the agent, and with what its principal owns', async () => {
  const group = newId('group')
  const { agent, key } = await makeAgentKey(group)
  const ids = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id)
  expect(ids(await pageAgentKeys(agent, { limit: 10 }))).toEqual([key.id])
  expect(ids(await pageKeys(group, { limit: 10 }))).toEqual([key.id])
  expect(ids(await pageAgentKeys(newId('agent'), { limit: 10 }))).toEqual([])
})

test('that a key was used is kept once in a few minutes', async () => {
  const { key, text } = await makeKey()
  const useAt = async (time: string) => {
    const now = clockAt(time)
    await keepUse(await authenticate(text, now), now)
    return (await usesOf([key.id])).get(key.id)
  }
  expect(await usesOf([key.id])).toEqual(new Map())
  expect(await useAt('2026-01-01T00:00:00.000Z')).toBe('2026-01-01T00:00:00.000Z')
  expect(await useAt('2026-01-01T00:04:59.999Z')).toBe('2026-01-01T00:00:00.000Z')
  const { requests } = currentUsage()
  await keepUse({ keyId: key.id, seenAt: '2026-01-01T00:00:00.000Z' }, clock)
  expect(currentUsage().requests).toBe(requests)
  expect(await useAt('2026-01-01T00:05:00.000Z')).toBe('2026-01-01T00:05:00.000Z')
})

test('a use that another request kept in the meantime stays as it is', async () => {
  const { key } = await makeKey()
  await keepUse({ keyId: key.id }, clockAt('2026-01-01T00:03:00.000Z'))
  await keepUse({ keyId: key.id }, clock)
  expect((await usesOf([key.id])).get(key.id)).toBe('2026-01-01T00:03:00.000Z')
})
