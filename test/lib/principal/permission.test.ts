import { expect, test } from 'vitest'
import { type Id, newId } from '../../../lib/core/ids.ts'
import type { Caller } from '../../../lib/principal/caller.ts'
import * as groups from '../../../lib/principal/group.ts'
import * as members from '../../../lib/principal/member.ts'
import {
  allows,
  PERMISSIONS,
  type Permission,
  type Relation,
  relationTo,
} from '../../../lib/principal/permission.ts'
import { createUser } from '../../../lib/principal/principal.ts'
import { useLocalTable } from '../../local-table.ts'

useLocalTable()

const key = { keyId: newId('key'), scopes: ['decide' as const] }
const person = async (
  role: 'admin' | 'member' = 'member',
): Promise<Caller & { id: Id<'user'> }> => {
  const id = newId('user')
  await createUser({ id, name: 'Someone', role, createdAt: '2026-01-01T00:00:00.000Z' })
  return { kind: 'user', id, role, principalId: id, ...key }
}

test('a caller is to a principal what the rows say', async () => {
  const [owner, admin, member, stranger, root] = await Promise.all([
    person(),
    person(),
    person(),
    person(),
    person('admin'),
  ])
  const groupId = newId('group')
  await groups.createGroup({ id: groupId, name: 'Gardeners' }, { ownerId: owner.id })
  for (const [{ id: userId }, role] of [
    [admin, 'admin'],
    [member, 'member'],
  ] as const)
    await members.addMember({ groupId, userId, role, by: owner.id })
  const agent: Caller = { kind: 'agent', id: newId('agent'), principalId: groupId, ...key }
  const relations = [owner, admin, member, stranger, root, agent].map(caller =>
    relationTo(caller, groupId),
  )
  expect(await Promise.all(relations)).toEqual([
    'group-owner',
    'group-admin',
    'group-member',
    undefined,
    'instance-admin',
    undefined,
  ])
  expect(await relationTo(owner, owner.id)).toBe('self')
  expect(await relationTo(owner, member.id)).toBeUndefined()
  expect(await relationTo(owner, newId('group'))).toBeUndefined()
  await members.removeMember(await members.getMember(groupId, member.id))
  expect(await relationTo(member, groupId)).toBeUndefined()
})

/** What each may do, once more and by itself: a change of the table is a change here. */
const MAY: Record<Relation, Permission[]> = {
  'instance-admin': [
    'read',
    'run',
    'decide',
    'decide-as-member',
    'decide-as-owner',
    'decide-as-instance-admin',
    'delete-tasks',
    'manage-agents',
    'manage-settings',
    'manage-notices',
    'audit',
    'manage-media',
    'manage-members',
    'leave',
    'transfer',
    'own',
    'edit-profile',
    'manage-sessions',
    'manage-instance',
  ],
  self: [
    'read',
    'run',
    'decide',
    'decide-as-member',
    'decide-as-owner',
    'delete-tasks',
    'manage-agents',
    'manage-settings',
    'manage-notices',
    'audit',
    'manage-media',
    'transfer',
    'edit-profile',
    'manage-sessions',
  ],
  'group-owner': [
    'read',
    'run',
    'decide',
    'decide-as-member',
    'decide-as-owner',
    'delete-tasks',
    'manage-agents',
    'manage-settings',
    'manage-notices',
    'audit',
    'manage-media',
    'manage-members',
    'leave',
    'transfer',
    'own',
  ],
  'group-admin': [
    'read',
    'run',
    'decide',
    'decide-as-member',
    'delete-tasks',
    'manage-agents',
    'manage-settings',
    'manage-notices',
    'audit',
    'manage-media',
    'manage-members',
    'leave',
  ],
  'group-member': ['read', 'run', 'decide-as-member', 'leave'],
}

test.each(Object.entries(MAY) as [Relation, Permission[]][])(
  '%s may do so much',
  (relation, may) => {
    const permissions = Object.keys(PERMISSIONS) as Permission[]
    expect(permissions.filter(permission => allows(relation, permission)).sort()).toEqual(
      may.sort(),
    )
  },
)

test('nobody in particular may do nothing', () => {
  for (const permission of Object.keys(PERMISSIONS) as Permission[])
    expect(allows(undefined, permission)).toBe(false)
})
