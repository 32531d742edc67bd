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

/** What an ended group leaves, so that its end can be finished, and its id not be taken. */
export const GroupRemains = z.object({
  id: idOf('group'),
  name: z.string(),
  endedAt: z.iso.datetime(),
  endedBy: z.string(),
  /** Nothing else of it is left. */
  clearedAt: z.iso.datetime().optional(),
})
export type GroupRemains = z.infer<typeof GroupRemains>
const remainsKey = (id: Id<'group'>): table.Key => ({ pk: id, sk: 'remains' })

/**
 * Makes a group with its first owner; the same id again gives the group that has it. INVALID_STATE
 * for the id of a group that has ended.
 */
export const createGroup = async (
  group: Pick<Group, 'id' | 'name' | 'requestHash'>,
  { ownerId, clock = systemClock, also = [] }: { ownerId: Id<'user'>; clock?: Clock } & Also,
): Promise<{ group: Group; created: boolean }> => {
  const whole: Group = { ...group, owners: 1, agents: 0, createdAt: isoNow(clock) }
  const indexes = { gsi1pk: ALL_GROUPS, gsi1sk: `${whole.createdAt}#${group.id}` }
  const outcome = await transact([
    { insert: whole, key: principalKey(group.id), indexes },
    newMember(memberOf({ groupId: group.id, userId: ownerId, role: 'owner', by: ownerId }, clock)),
    { check: remainsKey(group.id), where: { pk: is.absent } },
    ...also,
  ])
  if (outcome.ok) return { group: whole, created: true }
  if (outcome.failed.includes(2))
    throw new AppError('INVALID_STATE', `The group ${group.id} was made before, and ended since.`)
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
 * Ends a group; GROUP_HAS_AGENTS while it owns any. From here on nobody is in it, and nothing more is
 * made for it; `clearGroup` takes away what belonged to it, and then `closeGroup` says so.
 */
export const deleteGroup = async (
  { id, name }: Pick<Group, 'id' | 'name'>,
  { by, clock = systemClock, also = [] }: { by: string; clock?: Clock } & Also,
): Promise<GroupRemains> => {
  const remains: GroupRemains = { id, name, endedAt: isoNow(clock), endedBy: by }
  const outcome = await transact([
    { remove: principalKey(id), where: { agents: 0 } },
    { insert: remains, key: remainsKey(id) },
    ...also,
  ])
  if (outcome.ok) return remains
  const { agents } = await getGroup(id)
  throw new AppError(
    'GROUP_HAS_AGENTS',
    `The group still owns ${agents} agents. Delete or transfer them first.`,
    { details: { agents } },
  )
}

/** What is left of an ended group while something is; undefined afterwards, and before. */
export const findGroupRemains = async (id: Id<'group'>): Promise<GroupRemains | undefined> => {
  const remains = await table.get(GroupRemains, remainsKey(id))
  return remains?.clearedAt === undefined ? remains : undefined
}

/** Says that nothing is left of an ended group but its id. */
export const closeGroup = async (id: Id<'group'>, clock: Clock = systemClock): Promise<void> => {
  await table.update(GroupRemains, remainsKey(id), { set: { clearedAt: isoNow(clock) } })
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
