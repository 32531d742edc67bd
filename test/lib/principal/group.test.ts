import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { clearGroup } from '../../../lib/agent/clear-group.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { transact } from '../../../lib/data/transact.ts'
import * as groups from '../../../lib/principal/group.ts'
import * as members from '../../../lib/principal/member.ts'
import { createUser } from '../../../lib/principal/principal.ts'
import { useLocalTable } from '../../local-table.ts'

useLocalTable()

const person = async (): Promise<Id<'user'>> => {
  const id = newId('user')
  await createUser({ id, name: 'Someone', role: 'member', createdAt: '2026-01-01T00:00:00.000Z' })
  return id
}

let ada: Id<'user'>
let bob: Id<'user'>
let id: Id<'group'>
beforeEach(async () => {
  ada = await person()
  bob = await person()
  id = newId('group')
  await groups.createGroup({ id, name: 'Gardeners' }, { ownerId: ada })
})

const rolesOf = async () =>
  Object.fromEntries((await groups.listMembers(id)).map(({ userId, role }) => [userId, role]))
const add = (userId: Id<'user'>, role: groups.GroupRole) =>
  members.addMember({ groupId: id, userId, role, by: ada }).then(({ member }) => member)

test('whoever makes a group owns it, and making it again changes nothing', async () => {
  expect(await rolesOf()).toEqual({ [ada]: 'owner' })
  const again = await groups.createGroup({ id, name: 'Others' }, { ownerId: bob })
  expect(again).toMatchObject({ created: false, group: { name: 'Gardeners' } })
  expect(await rolesOf()).toEqual({ [ada]: 'owner' })
})

test('members have a role, and are found from both ends', async () => {
  await add(bob, 'member')
  expect(await members.roleIn(id, bob)).toBe('member')
  expect(await members.roleIn(id, await person())).toBeUndefined()
  expect(await members.groupsOf(bob)).toMatchObject([{ group: { id }, role: 'member' }])
})

test('nobody is taken in twice, and nobody who does not exist', async () => {
  await add(bob, 'member')
  await expect(add(bob, 'owner')).rejects.toMatchObject({ code: 'INVALID_STATE' })
  expect(await rolesOf()).toEqual({ [ada]: 'owner', [bob]: 'member' })
  await expect(add(newId('user'), 'member')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const nowhere = { groupId: newId('group'), userId: bob, role: 'member' as const, by: ada }
  await expect(members.addMember(nowhere)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

describe('the last owner', () => {
  test('can neither leave nor step down', async () => {
    const owner = await members.getMember(id, ada)
    await expect(members.removeMember(owner)).rejects.toMatchObject({ code: 'ROLE_RULE_VIOLATION' })
    await expect(members.setRole(owner, 'admin')).rejects.toMatchObject({
      code: 'ROLE_RULE_VIOLATION',
    })
    expect(await rolesOf()).toEqual({ [ada]: 'owner' })
  })

  test('may leave once there is another', async () => {
    await members.setRole(await add(bob, 'member'), 'owner')
    await members.removeMember(await members.getMember(id, ada))
    expect(await rolesOf()).toEqual({ [bob]: 'owner' })
  })

  test('stays, though all leave at once', async () => {
    await add(bob, 'owner')
    const owners = await groups.listMembers(id)
    const ends = await Promise.allSettled(owners.map(owner => members.removeMember(owner)))
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(Object.values(await rolesOf())).toEqual(['owner'])
  })
})

test('a change of a role that someone else changed meanwhile is refused', async () => {
  const seen = await add(bob, 'member')
  await members.setRole(seen, 'admin')
  await expect(members.setRole(seen, 'owner')).rejects.toMatchObject({ code: 'INVALID_STATE' })
  await members.removeMember(await members.getMember(id, bob))
  await expect(members.setRole(seen, 'owner')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect((await groups.getGroup(id)).owners).toBe(1)
})

const end = () => groups.deleteGroup({ id, name: 'Group' }, { by: ada })

test('a group that owns agents stays, and one without goes with its members', async () => {
  await add(bob, 'member')
  await transact([groups.agentsBy(id, 1)])
  await expect(end()).rejects.toMatchObject({
    code: 'GROUP_HAS_AGENTS',
    details: { agents: 1 },
  })
  await transact([groups.agentsBy(id, -1)])
  await end()
  await clearGroup(id, [])
  expect(await groups.listMembers(id)).toEqual([])
  expect(await members.roleIn(id, bob)).toBeUndefined()
  expect(await members.groupsOf(bob)).toEqual([])
  await expect(groups.getGroup(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(end()).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('a member whom a crash left behind is a member of nothing', async () => {
  await transact([{ remove: { pk: id, sk: 'principal' }, where: {} }])
  expect(await groups.listMembers(id)).toHaveLength(1)
  expect(await members.roleIn(id, ada)).toBeUndefined()
  expect(await members.groupsOf(ada)).toEqual([])
})

test('a group gets no agent once it has ended', async () => {
  await end()
  expect(await transact([groups.agentsBy(id, 1)])).toEqual({ ok: false, failed: [0] })
})

/** What becomes of a group of three people, told simply: roles by person, or a refusal. */
type Step = { who: number } & (
  | { do: 'add' | 'set'; role: groups.GroupRole }
  | { do: 'remove'; role?: undefined }
)
const step = (roles: Map<number, string>, { do: what, who, role }: Step): string | undefined => {
  const is = roles.get(who)
  const isLastOwner = is === 'owner' && [...roles.values()].filter(r => r === is).length === 1
  if (what === 'add') {
    if (is !== undefined && is !== role) return 'INVALID_STATE'
    roles.set(who, role)
    return undefined
  }
  if (is === undefined) return 'NOT_FOUND'
  if (isLastOwner && role !== 'owner') return 'ROLE_RULE_VIOLATION'
  if (what === 'set') roles.set(who, role)
  else roles.delete(who)
  return undefined
}

test('whatever is done to a group, its members and its count of owners are what was done', async () => {
  const role = fc.constantFrom(...groups.GROUP_ROLES)
  const who = fc.nat({ max: 2 })
  const steps = fc.array(
    fc.oneof(
      fc.record({ do: fc.constantFrom('add' as const, 'set' as const), who, role }),
      fc.record({ do: fc.constant('remove' as const), who }),
    ),
    { maxLength: 20 },
  )
  const people = [ada, bob, await person()]
  await fc.assert(
    fc.asyncProperty(steps, async taken => {
      const groupId = newId('group')
      await groups.createGroup({ id: groupId, name: 'Gardeners' }, { ownerId: ada })
      const roles = new Map([[0, 'owner']])
      for (const each of taken) {
        const userId = people[each.who] as Id<'user'>
        const done = async () => {
          if (each.do === 'add')
            return members.addMember({ groupId, userId, role: each.role, by: ada })
          const member = await members.getMember(groupId, userId)
          if (each.do === 'set') return members.setRole(member, each.role)
          return members.removeMember(member)
        }
        const refusal = await done().then(
          () => undefined,
          (error: { code: string }) => error.code,
        )
        expect(refusal).toBe(step(roles, each))
      }
      const found = await groups.listMembers(groupId)
      expect(new Map(found.map(({ userId, role }) => [people.indexOf(userId), role]))).toEqual(
        roles,
      )
      const owners = found.filter(({ role }) => role === 'owner').length
      expect((await groups.getGroup(groupId)).owners).toBe(owners)
      expect(owners).toBeGreaterThan(0)
    }),
    { numRuns: 40 },
  )
})
