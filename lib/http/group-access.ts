import { notFound } from '../core/errors.ts'
import { findGroupRemains, type Group, type GroupRemains, getGroup } from '../principal/group.ts'
import { getMember } from '../principal/member.ts'
import { type Permission, relationToInstance } from '../principal/permission.ts'
import { access, demand } from './access.ts'
import { GroupId, UserId } from './wire.ts'

/** The group in the path, for those who may do this with it. */
const groupFor = (permission: Permission, who: string) =>
  access({
    who,
    what: 'group',
    params: { id: GroupId },
    errors: permission === 'read' ? ['NOT_FOUND'] : ['NOT_FOUND', 'FORBIDDEN'],
    find: async ({ caller, params: { id } }): Promise<Group> => {
      await demand(caller, permission, { principalId: id }, () => notFound('group', id))
      return getGroup(id)
    },
  })

export const readableGroup = groupFor('read', 'A member of the group, or an admin of the instance.')
export const managedGroup = groupFor(
  'manage-members',
  'An owner or admin of the group, or an admin of the instance.',
)
export const ownedGroup = groupFor('own', 'An owner of the group, or an admin of the instance.')

/** The group in the path, or what its end has left of it, for whoever ended it or an admin. */
export const removableGroup = access({
  ...ownedGroup,
  find: async ({ caller, params: { id } }): Promise<Group | GroupRemains> => {
    const remains = await findGroupRemains(id)
    const isTheirs = remains?.endedBy === caller.id || relationToInstance(caller) !== undefined
    return remains && isTheirs ? remains : ownedGroup.find({ caller, params: { id } })
  },
})

const params = { id: GroupId, user_id: UserId }

/** The member in the path, for those who say who is in the group, and as what. */
export const managedMember = access({
  ...managedGroup,
  what: 'member',
  params,
  find: async ({ caller, params: { id, user_id: userId } }) => {
    await managedGroup.find({ caller, params: { id } })
    return getMember(id, userId)
  },
})

/** The member in the path, for those who may take it out: that is everyone for oneself. */
export const removableMember = access({
  ...managedMember,
  who: 'The member itself, an owner or admin of the group, or an admin of the instance; of an owner, only owners.',
  find: async ({ caller, params: { id, user_id: userId } }) => {
    const missing = () => notFound('group', id)
    const isOneself = caller.id === userId
    await demand(caller, isOneself ? 'leave' : 'manage-members', { principalId: id }, missing)
    const member = await getMember(id, userId)
    if (member.role === 'owner' && !isOneself)
      await demand(caller, 'own', { principalId: id }, missing)
    return member
  },
})
