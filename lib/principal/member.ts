import { type Clock, systemClock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import {
  type Also,
  Group,
  type GroupRole,
  Member,
  memberKey,
  memberOf,
  type NewMember,
  newMember,
  ownersBy,
  type Page,
} from './group.ts'
import { principalKey } from './principal.ts'

export const pageMembers = (groupId: Id<'group'>, page: Page) =>
  table.query(Member, { pk: groupId, prefix: 'member#', ...page })

/** The items that say which role a user has in a group. */
export const roleKeys = (groupId: Id<'group'>, userId: Id<'user'>): table.Key[] => [
  principalKey(groupId),
  memberKey(groupId, userId),
]

/** A user's role in a group, from those items, or undefined: also where the group has ended. */
export const roleFrom = (
  found: table.Found,
  groupId: Id<'group'>,
  userId: Id<'user'>,
): GroupRole | undefined =>
  found.get(Group, principalKey(groupId)) && found.get(Member, memberKey(groupId, userId))?.role

export const roleIn = async (groupId: Id<'group'>, userId: Id<'user'>) =>
  roleFrom(await table.batchGet(roleKeys(groupId, userId)), groupId, userId)

export type Membership = { group: Group; role: GroupRole }

/** The groups that a user is a member of, with the role in each. */
export const groupsOf = async (userId: Id<'user'>): Promise<Membership[]> =>
  membershipsOf(await table.queryAll(Member, { index: 'gsi1', pk: `${userId}#group` }))

export const pageGroupsOf = async (userId: Id<'user'>, page: Page) => {
  const { items, ...rest } = await table.query(Member, {
    index: 'gsi1',
    pk: `${userId}#group`,
    ...page,
  })
  return { items: await membershipsOf(items), ...rest }
}

const membershipsOf = async (members: Member[]): Promise<Membership[]> => {
  const found = await table.batchGet(members.map(({ groupId }) => principalKey(groupId)))
  return members.flatMap(({ groupId, role }) => {
    const group = found.get(Group, principalKey(groupId))
    return group ? [{ group, role }] : []
  })
}

/**
 * Takes a user into a group; who is a member of this role already stays it. NOT_FOUND where there
 * is no such user; INVALID_STATE for a member of another role.
 */
export const addMember = async (
  asked: NewMember,
  { clock = systemClock, also = [] }: { clock?: Clock } & Also = {},
): Promise<{ member: Member; created: boolean }> => {
  const member = memberOf(asked, clock)
  const { groupId, userId, role } = member
  const outcome = await transact([
    newMember(member),
    { check: principalKey(userId), where: { pk: is.present } },
    ownersBy(groupId, role === 'owner' ? 1 : 0),
    ...also,
  ])
  if (outcome.ok) return { member, created: true }
  if (outcome.failed.includes(1)) throw notFound('user', userId)
  if (outcome.failed.includes(2)) throw notFound('group', groupId)
  const there = await getMember(groupId, userId)
  if (there.role === role) return { member: there, created: false }
  throw new AppError('INVALID_STATE', `${userId} is a member already; change its role instead.`)
}

/** Gives a member another role; ROLE_RULE_VIOLATION where the group would have no owner left. */
export const setRole = async (
  member: Member,
  role: GroupRole,
  { also = [] }: Also = {},
): Promise<Member> => {
  if (role === member.role) return member
  const key = memberKey(member.groupId, member.userId)
  const write = { key, update: { set: { role } }, where: { role: member.role } }
  await changeMember(member, role, [write, ...also])
  return { ...member, role }
}

/** Takes a member out; ROLE_RULE_VIOLATION for the last owner. */
export const removeMember = (member: Member, { also = [] }: Also = {}): Promise<void> =>
  changeMember(member, undefined, [
    { remove: memberKey(member.groupId, member.userId), where: { role: member.role } },
    ...also,
  ])

/** One member, or NOT_FOUND. */
export const getMember = async (groupId: Id<'group'>, userId: Id<'user'>): Promise<Member> => {
  const member = await table.get(Member, memberKey(groupId, userId))
  if (!member) throw notFound('member', userId)
  return member
}

const changeMember = async (
  member: Member,
  role: GroupRole | undefined,
  [write, ...also]: [TransactionWrite, ...TransactionWrite[]],
): Promise<void> => {
  const { groupId, userId } = member
  const owners = Number(role === 'owner') - Number(member.role === 'owner')
  const outcome = await transact([write, ownersBy(groupId, owners), ...also])
  if (outcome.ok) return
  if (outcome.failed.includes(0)) {
    await getMember(groupId, userId)
    throw new AppError('INVALID_STATE', 'Someone else changed this member just now. Read it again.')
  }
  if (owners >= 0) throw notFound('group', groupId)
  throw new AppError(
    'ROLE_RULE_VIOLATION',
    'A group has at least one owner. Make someone else an owner first.',
  )
}
