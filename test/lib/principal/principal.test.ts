import { beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { createUser, findPrincipal, type User } from '../../../lib/principal/principal.ts'
import * as users from '../../../lib/principal/user.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'

useLocalTable()

const clock = clockAt('2026-02-01T00:00:00.000Z')

const make = async (role: User['role'] = 'member', name = 'Ada'): Promise<User> => {
  const user = { id: newId('user'), name, role, createdAt: '2026-01-01T00:00:00.000Z' }
  await createUser(user)
  return user
}
const change = (user: User, by: users.UserChange) =>
  users.replaceUser(user, users.changed(user, by, clock))
const stored = ({ id }: User) => users.getUser(id)
const LAST_ADMIN = { code: 'ROLE_RULE_VIOLATION' }

test('a user is made once, and found by its id and in the list of all', async () => {
  const user = await make()
  expect(await createUser({ ...user, name: 'Other' })).toEqual({ ok: false, item: user })
  expect(await findPrincipal(user.id)).toEqual({ id: user.id, name: 'Ada' })
  const other = await make()
  const { items } = await users.listUsers({ limit: 100 })
  expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining([user.id, other.id]))
  expect([...(await users.getUsers([user.id, newId('user')])).keys()]).toEqual([user.id])
})

test('what a change does not name stays, and who is disabled stays so since then', async () => {
  const user = await make()
  const disabled = await change(user, { disabled: true })
  expect(await stored(user)).toEqual({ ...user, disabledAt: '2026-02-01T00:00:00.000Z' })
  const later = clockAt('2026-03-01T00:00:00.000Z')
  expect(users.changed(disabled, { disabled: true, name: 'Eva' }, later)).toEqual({
    ...disabled,
    name: 'Eva',
  })
  await change(disabled, { disabled: false })
  expect(await stored(user)).toEqual(user)
})

test('a change of what someone else changed since is refused, and so is what goes with it', async () => {
  const seen = await make()
  await change(seen, { name: 'Eva' })
  const key = { pk: 'with-it', sk: 'x' }
  const also = [{ insert: { id: seen.id }, key }]
  await expect(
    users.replaceUser(seen, users.changed(seen, { role: 'admin' }), { also }),
  ).rejects.toMatchObject({ code: 'INVALID_STATE' })
  expect(await stored(seen)).toMatchObject({ name: 'Eva', role: 'member' })
  expect(await table.get(z.unknown(), key)).toBeUndefined()
})

describe('the last admin', () => {
  let ada: User
  let bob: User
  beforeEach(async () => {
    const { items } = await users.listUsers({ limit: 100 })
    ada = await make('admin')
    bob = await make('admin')
    // Those of earlier tests are admins no more.
    for (const user of items) if (user.role === 'admin') await change(user, { role: 'member' })
  })

  test('is neither demoted nor disabled', async () => {
    await change(ada, { role: 'member' })
    await expect(change(bob, { role: 'member' })).rejects.toMatchObject(LAST_ADMIN)
    await expect(change(bob, { disabled: true })).rejects.toMatchObject(LAST_ADMIN)
    expect(await stored(bob)).toEqual(bob)
    expect(await change(bob, { name: 'Bob' })).toMatchObject({ name: 'Bob', role: 'admin' })
  })

  test('is one who counts: an admin who is disabled is none', async () => {
    const disabled = await change(ada, { disabled: true })
    await expect(change(bob, { role: 'member' })).rejects.toMatchObject(LAST_ADMIN)
    // Demoting who counts for nothing changes no count.
    await change(disabled, { role: 'member' })
    await change(await stored(ada), { disabled: false, role: 'admin' })
    expect(await change(bob, { role: 'member' })).toMatchObject({ role: 'member' })
  })

  test('stays, though all step down at once', async () => {
    const ends = await Promise.allSettled([ada, bob].map(user => change(user, { role: 'member' })))
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const roles = await Promise.all([ada, bob].map(async user => (await stored(user)).role))
    expect(roles.sort()).toEqual(['admin', 'member'])
  })
})
