import type { Id } from '../core/ids.ts'
import { batchGet, type Found } from '../data/table.ts'
import type { Decider } from '../tool/words.ts'
import type { Caller } from './caller.ts'
import type { GroupRole } from './group.ts'
import { roleFrom, roleKeys } from './member.ts'
import type { PrincipalId } from './principal.ts'

/**
 * What a caller is to the principal that owns something: an admin of the instance, the user
 * itself, or what its role in the group is. Keys of agents are nothing to anyone but themselves.
 */
export type Relation = 'instance-admin' | 'self' | `group-${GroupRole}`

const EVERYONE = ['instance-admin', 'self', 'group-owner', 'group-admin', 'group-member'] as const
const KEEPERS = ['instance-admin', 'self', 'group-owner', 'group-admin'] as const
const OWNERS = ['instance-admin', 'self', 'group-owner'] as const
const INSTANCE = ['instance-admin'] as const

/**
 * The one table of who may do what with what a principal owns; what is not in it is denied. An
 * agent's own key runs its operations and reads its tasks and calls, and is in no row.
 */
export const PERMISSIONS = {
  /** Its agents, tools, settings, tasks, calls and media, as they stand. */
  read: EVERYONE,
  /** Start and cancel tasks, run operations. */
  run: EVERYONE,
  /** Approve, reject and settle calls; a key needs the scope "decide" as well. */
  decide: KEEPERS,
  /** Approve and reject calls of operations that an operator, or their author, left to this role. */
  'decide-as-member': EVERYONE,
  'decide-as-owner': OWNERS,
  'decide-as-instance-admin': INSTANCE,
  /** Delete tasks, whoever has started them, with all that was said and done in them. */
  'delete-tasks': KEEPERS,
  /** Make, change and delete agents, with their tools, settings and keys. */
  'manage-agents': KEEPERS,
  /** Change the principal's own settings and model configurations. */
  'manage-settings': KEEPERS,
  /** Say where one is told of what waits and what has ended. */
  'manage-notices': KEEPERS,
  /** See who changed what of all this. */
  audit: KEEPERS,
  /** Make and revoke public links, delete media. */
  'manage-media': KEEPERS,
  /** Take members in and out, change their roles, rename the group; not what makes owners. */
  'manage-members': ['instance-admin', 'group-owner', 'group-admin'],
  /** Leave the group. */
  leave: ['instance-admin', 'group-owner', 'group-admin', 'group-member'],
  /** Give agents away, and take them over. */
  transfer: OWNERS,
  /** End a group, and say who owns it: make owners, and have owners no more. */
  own: ['instance-admin', 'group-owner'],
  /** Say what a user is called. */
  'edit-profile': ['instance-admin', 'self'],
  /** See where a user is signed in, and end that. */
  'manage-sessions': ['instance-admin', 'self'],
  /** Global settings, people, the audit log of all. */
  'manage-instance': INSTANCE,
} as const satisfies Record<string, readonly Relation[]>
export type Permission = keyof typeof PERMISSIONS

/** What a decision takes, by the least role that takes it. */
export const DECIDING = {
  member: 'decide-as-member',
  admin: 'decide',
  owner: 'decide-as-owner',
  'instance-admin': 'decide-as-instance-admin',
} as const satisfies Record<Decider, Permission>

/** Whether the table allows it; no relation allows nothing. */
export const allows = (relation: Relation | undefined, permission: Permission): boolean =>
  relation !== undefined && (PERMISSIONS[permission] as readonly Relation[]).includes(relation)

/** What a caller is to the instance as a whole. */
export const relationToInstance = (caller: Caller): Relation | undefined =>
  caller.kind === 'user' && caller.role === 'admin' ? 'instance-admin' : undefined

/** What a caller is to a principal; one read where that is a group that it isn't an admin over. */
export const relationTo = async (
  caller: Caller,
  principalId: PrincipalId,
): Promise<Relation | undefined> => {
  const needsNone = caller.kind !== 'user' || relationToInstance(caller) || !isGroup(principalId)
  const keys = needsNone ? [] : roleKeys(principalId, caller.id)
  return relationFrom(await batchGet(keys), caller, principalId)
}

/** The same from items that were read before, the group's and the member's among them. */
export const relationFrom = (
  found: Found,
  caller: Caller,
  principalId: PrincipalId,
): Relation | undefined => {
  if (caller.kind !== 'user') return undefined
  const toAll = relationToInstance(caller)
  if (toAll) return toAll
  if (caller.id === principalId) return 'self'
  if (!isGroup(principalId)) return undefined
  const role = roleFrom(found, principalId, caller.id)
  return role && `group-${role}`
}

export const isGroup = (id: PrincipalId): id is Id<'group'> => id.startsWith('group_')
