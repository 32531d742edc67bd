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
// user's groups; all groups, newest first.
export const memberKey = (groupId: Id<'group'>, userId: Id<'user'>): table.Key => ({
  pk: groupId,
  sk: `member#${userId}`,
})
const indexesOf = ({ groupId, userId }: Member) => ({
  gsi1pk: `${userId}#group`,
  gsi1sk: groupId,
})

export const ALL_GROUPS = 'instance#group'

/** Writes that go into the transaction of a change: its entries of the audit log. */
export type Also = { also?: TransactionWrite[] }
export type Page = { limit: number; cursor?: string }

/** Makes a group with its first owner; the same id again gives the group that has it. */
export const createGroup = async (
  group: Pick<Group, 'id' | 'name' | 'requestHash'>,
  { ownerId, clock = systemClock, also = [] }: { ownerId: Id<'user'>; clock?: Clock } & Also,
): Promise<{ group: Group; created: boolean }> => {
  const whole: Group = { ...group, owners: 1, agents: 0, createdAt: isoNow(clock) }
  const indexes = { gsi1pk: ALL_GROUPS, gsi1sk: `${whole.createdAt}#${group.id}` }
  const outcome = await transact([
    { insert: whole, key: principalKey(group.id), indexes },
    newMember(memberOf({ groupId: group.id, userId: ownerId, role: 'owner', by: ownerId }, clock)),
    ...also,
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

/** Gives a group another name; INVALID_STATE where someone else did since it was seen. */
export const renameGroup = async (
  group: Group,
  name: string,
  { also = [] }: Also = {},
): Promise<Group> => {
  const { id } = group
  const outcome = await transact([
    { key: principalKey(id), update: { set: { name } }, where: { name: group.name } },
    ...also,
  ])
  if (outcome.ok) return { ...group, name }
  await getGroup(id)
  throw new AppError('INVALID_STATE', 'Someone else renamed this group just now. Read it again.')
}

/**
 * Ends a group; GROUP_HAS_AGENTS while it owns any. Its members go after it: a row that a crash
 * leaves behind is a member of nothing.
 */
export const deleteGroup = async (id: Id<'group'>, { also = [] }: Also = {}): Promise<void> => {
  const outcome = await transact([{ remove: principalKey(id), where: { agents: 0 } }, ...also])
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

/** All members of a group, in the order of their ids. */
export const listMembers = (groupId: Id<'group'>): Promise<Member[]> =>
  table.queryAll(Member, { pk: groupId, prefix: 'member#' })

/** Every group of the instance. */
export const listGroups = (page: Page) =>
  table.query(Group, { index: 'gsi1', pk: ALL_GROUPS, newestFirst: true, ...page })

/**
 * What an agent that a group gets or loses does to the group's count: a part of the transaction
 * that makes, moves or deletes the agent.
 */
export const agentsBy = (groupId: Id<'group'>, count: 1 | -1): TransactionWrite => ({
  key: principalKey(groupId),
  update: { add: { agents: count } },
})

/** The count of owners never falls to none. */
export const ownersBy = (groupId: Id<'group'>, change: number): TransactionWrite => ({
  key: principalKey(groupId),
  update: { add: { owners: change } },
  ...(change < 0 ? { where: { owners: is.above(1) } } : {}),
})

export type NewMember = Pick<Member, 'groupId' | 'userId' | 'role'> & { by: string }

export const memberOf = ({ by, ...member }: NewMember, clock: Clock): Member => ({
  ...member,
  addedAt: isoNow(clock),
  addedBy: by,
})

/** The making of a member as a part of a transaction; the group's count of owners is another. */
export const newMember = (member: Member): TransactionWrite => ({
  insert: member,
  key: memberKey(member.groupId, member.userId),
  indexes: indexesOf(member),
})
