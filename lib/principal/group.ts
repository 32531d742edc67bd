import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { principalKey } from './principal.ts'

/** What a member of a group may do; `lib/principal/permission.ts` says what that is. */
export const GROUP_ROLES = ['owner', 'admin', 'member'] as const
export const GroupRole = z.enum(GROUP_ROLES)
export type GroupRole = z.infer<typeof GroupRole>

export const Group = z.object({
  id: idOf('group'),
  name: z.string(),
  /** How many owners and agents it has: what decides about its end reads no index. */
  owners: z.int(),
  agents: z.int(),
  createdAt: z.iso.datetime(),
  requestHash: z.string().optional(),
})
export type Group = z.infer<typeof Group>

export const Member = z.object({
  groupId: idOf('group'),
  userId: idOf('user'),
  role: GroupRole,
  addedAt: z.iso.datetime(),
  addedBy: z.string(),
})
export type Member = z.infer<typeof Member>

// Access patterns: one member of a group, to decide what someone may do; a group's members; a
// user's groups.
export const memberKey = (groupId: Id<'group'>, userId: Id<'user'>): table.Key => ({
  pk: groupId,
  sk: `member#${userId}`,
})
const indexesOf = ({ groupId, userId }: Member) => ({
  gsi1pk: `${userId}#group`,
  gsi1sk: groupId,
})

/** Makes a group with its first owner; the same id again gives the group that has it. */
export const createGroup = async (
  group: Pick<Group, 'id' | 'name' | 'requestHash'>,
  { ownerId, clock = systemClock }: { ownerId: Id<'user'>; clock?: Clock },
): Promise<{ group: Group; created: boolean }> => {
  const whole: Group = { ...group, owners: 1, agents: 0, createdAt: isoNow(clock) }
  const outcome = await transact([
    { insert: whole, key: principalKey(group.id) },
    newMember({ groupId: group.id, userId: ownerId, role: 'owner', by: ownerId }, clock),
  ])
  if (outcome.ok) return { group: whole, created: true }
  return { group: await getGroup(group.id), created: false }
}

/** One group, or NOT_FOUND. */
export const getGroup = async (id: Id<'group'>): Promise<Group> => {
  const group = await table.get(Group, principalKey(id))
  if (!group) throw notFound('group', id)
  return group
}

export const renameGroup = async (id: Id<'group'>, name: string): Promise<Group> => {
  const outcome = await table.update(Group, principalKey(id), { set: { name } })
  if (!outcome.ok) throw notFound('group', id)
  return outcome.item
}

/**
 * Ends a group; GROUP_HAS_AGENTS while it owns any. Its members go after it: a row that a crash
 * leaves behind is a member of nothing.
 */
export const deleteGroup = async (id: Id<'group'>): Promise<void> => {
  const outcome = await transact([{ remove: principalKey(id), where: { agents: 0 } }])
  if (!outcome.ok) {
    const { agents } = await getGroup(id)
    throw new AppError(
      'GROUP_HAS_AGENTS',
      `The group still owns ${agents} agents. Delete or transfer them first.`,
      { details: { agents } },
    )
  }
  for (const { userId } of await listMembers(id)) await table.remove(memberKey(id, userId))
}

/** The members of a group, in the order of their ids; there are few. */
export const listMembers = (groupId: Id<'group'>): Promise<Member[]> =>
  table.queryAll(Member, { pk: groupId, prefix: 'member#' })

/** A user's role in a group, or undefined: also where the group has ended. */
export const roleIn = async (
  groupId: Id<'group'>,
  userId: Id<'user'>,
): Promise<GroupRole | undefined> => {
  const found = await table.batchGet([principalKey(groupId), memberKey(groupId, userId)])
  const group = found.get(Group, principalKey(groupId))
  return group && found.get(Member, memberKey(groupId, userId))?.role
}

/** The groups that a user is a member of, with the role in each. */
export const groupsOf = async (
  userId: Id<'user'>,
): Promise<{ group: Group; role: GroupRole }[]> => {
  const members = await table.queryAll(Member, { index: 'gsi1', pk: `${userId}#group` })
  const found = await table.batchGet(members.map(({ groupId }) => principalKey(groupId)))
  return members.flatMap(({ groupId, role }) => {
    const group = found.get(Group, principalKey(groupId))
    return group ? [{ group, role }] : []
  })
}

type NewMember = Pick<Member, 'groupId' | 'userId' | 'role'> & { by: string }

/** Takes a user into a group. NOT_FOUND where there is no such user; INVALID_STATE for a member. */
export const addMember = async (
  member: NewMember,
  { clock = systemClock }: { clock?: Clock } = {},
): Promise<Member> => {
  const { groupId, userId, role } = member
  const outcome = await transact([
    newMember(member, clock),
    { check: principalKey(userId), where: { pk: is.present } },
    ownersBy(groupId, role === 'owner' ? 1 : 0),
  ])
  if (!outcome.ok) {
    if (outcome.failed.includes(1)) throw notFound('user', userId)
    if (outcome.failed.includes(2)) throw notFound('group', groupId)
    throw new AppError('INVALID_STATE', `${userId} is a member already; change its role instead.`)
  }
  return rowOf(member, clock)
}

/** Gives a member another role; ROLE_RULE_VIOLATION where the group would have no owner left. */
export const setRole = async (member: Member, role: GroupRole): Promise<Member> => {
  if (role === member.role) return member
  await changeMember(member, role, {
    key: memberKey(member.groupId, member.userId),
    update: { set: { role } },
    where: { role: member.role },
  })
  return { ...member, role }
}

/** Takes a member out; ROLE_RULE_VIOLATION for the last owner. */
export const removeMember = (member: Member): Promise<void> =>
  changeMember(member, undefined, {
    remove: memberKey(member.groupId, member.userId),
    where: { role: member.role },
  })

/** One member, or NOT_FOUND. */
export const getMember = async (groupId: Id<'group'>, userId: Id<'user'>): Promise<Member> => {
  const member = await table.get(Member, memberKey(groupId, userId))
  if (!member) throw notFound('member', userId)
  return member
}

/**
 * What an agent that a group gets or loses does to the group's count: a part of the transaction
 * that makes, moves or deletes the agent.
 */
export const agentsBy = (groupId: Id<'group'>, count: 1 | -1): TransactionWrite => ({
  key: principalKey(groupId),
  update: { add: { agents: count } },
})

const changeMember = async (
  member: Member,
  role: GroupRole | undefined,
  write: TransactionWrite,
): Promise<void> => {
  const { groupId, userId } = member
  const owners = Number(role === 'owner') - Number(member.role === 'owner')
  const outcome = await transact([write, ownersBy(groupId, owners)])
  if (outcome.ok) return
  if (outcome.failed.includes(0)) {
    await getMember(groupId, userId)
    throw new AppError('INVALID_STATE', 'Someone else changed this member just now. Read it again.')
  }
  throw new AppError(
    'ROLE_RULE_VIOLATION',
    'A group has at least one owner. Make someone else an owner first.',
  )
}

/** The count of owners never falls to none. */
const ownersBy = (groupId: Id<'group'>, change: number): TransactionWrite => ({
  key: principalKey(groupId),
  update: { add: { owners: change } },
  ...(change < 0 ? { where: { owners: is.above(1) } } : {}),
})

const rowOf = ({ by, ...member }: NewMember, clock: Clock): Member => ({
  ...member,
  addedAt: isoNow(clock),
  addedBy: by,
})

const newMember = (member: NewMember, clock: Clock): TransactionWrite => {
  const row = rowOf(member, clock)
  return {
    insert: row,
    key: memberKey(member.groupId, member.userId),
    indexes: indexesOf(row),
  }
}
