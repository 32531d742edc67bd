import type { Id } from '../core/ids.ts'
import type { Decider } from '../tool/words.ts'
import { listMembers } from './group.ts'
import { allows, DECIDING, isGroup, type Relation } from './permission.ts'
import { countAdmins, isActiveAdmin, type PrincipalId, type User } from './principal.ts'
import { getUsers } from './user.ts'

/** Who decides about the calls of an operation of an agent. */
export type DecisionPolicy = {
  /** The least role that does. */
  decidedBy: Decider
  /** Whether whoever started the task, or made the call, never does. */
  neverByStarter: boolean
}

/** What is known of someone and a call, and what an operator said about such calls. */
export type DecisionCase = {
  policy: DecisionPolicy
  relation: Relation | undefined
  userId: string
  /** Users and agents; none where nobody knows any more. */
  startedBy: readonly string[]
}

/** The rule: whether a user decides about a call. What its key may is asked besides. */
export const decides = ({ policy, relation, userId, startedBy }: DecisionCase): boolean =>
  allows(relation, DECIDING[policy.decidedBy]) &&
  !(policy.neverByStarter && startedBy.includes(userId))

/** In words, the people who decide about a principal's calls, whatever they started. */
export const deciderWords = (decidedBy: Decider, principalId: PrincipalId): string => {
  const all = 'an admin of the instance'
  if (decidedBy === 'instance-admin') return all
  if (!isGroup(principalId)) return `the user who owns the agent, or ${all}`
  return `${ROLE_WORDS[decidedBy]} of the group, or ${all}`
}
const ROLE_WORDS = {
  member: 'a member',
  admin: 'an owner or admin',
  owner: 'an owner',
} as const satisfies Record<Exclude<Decider, 'instance-admin'>, string>

/** Whether anyone but these users, and not disabled, has a role that decides: four reads at most. */
export const someoneElseDecides = async (
  userIds: Id<'user'>[],
  principalId: PrincipalId,
  decidedBy: Decider,
): Promise<boolean> => {
  const owners = isGroup(principalId) ? [] : [principalId]
  const [admins, known] = await Promise.all([countAdmins(), getUsers([...userIds, ...owners])])
  const selves = [...new Set(userIds)].flatMap(id => known.get(id) ?? [])
  if (admins > selves.filter(isActiveAdmin).length) return true
  if (!isGroup(principalId))
    return (
      !userIds.includes(principalId) &&
      counts(known.get(principalId)) &&
      allows('self', DECIDING[decidedBy])
    )
  const members = (await listMembers(principalId)).filter(
    member =>
      !userIds.includes(member.userId) && allows(`group-${member.role}`, DECIDING[decidedBy]),
  )
  const users = await getUsers(members.map(member => member.userId))
  return [...users.values()].some(counts)
}

const counts = (user: User | undefined): boolean =>
  user !== undefined && user.disabledAt === undefined
