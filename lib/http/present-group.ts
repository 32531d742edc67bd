import * as z from 'zod'
import { GROUP_ROLES, type Group, type Member } from '../principal/group.ts'
import { getUsers } from '../principal/user.ts'
import { GroupId, Time, UserId } from './wire.ts'

export const GroupRole = z
  .enum(GROUP_ROLES)
  .describe('Owners say who owns the group, and end it; admins keep it; members use it.')
type Role = z.infer<typeof GroupRole>

export const GroupView = z
  .object({
    id: GroupId,
    name: z.string(),
    role: GroupRole.nullable().describe('The caller’s own; null for who is no member.'),
    owner_count: z.int(),
    agent_count: z.int(),
    created_at: Time,
  })
  .meta({ id: 'Group' })
export type GroupView = z.infer<typeof GroupView>

export const MemberView = z
  .object({
    user_id: UserId,
    name: z.string().nullable().describe('Null for a user who is gone.'),
    role: GroupRole,
    disabled: z.boolean(),
    added_at: Time,
    added_by: z.string(),
  })
  .meta({ id: 'Member', description: 'A user in a group.' })
export type MemberView = z.infer<typeof MemberView>

/** A group on the wire, as someone of this role sees it. */
export const presentGroup = (group: Group, role: Role | undefined): GroupView => ({
  id: group.id,
  name: group.name,
  role: role ?? null,
  owner_count: group.owners,
  agent_count: group.agents,
  created_at: group.createdAt,
})

/** Members with their names; one batched read for all. */
export const presentMembers = async (members: Member[]): Promise<MemberView[]> => {
  const users = await getUsers(members.map(({ userId }) => userId))
  return members.map(member => {
    const user = users.get(member.userId)
    return {
      user_id: member.userId,
      name: user?.name ?? null,
      role: member.role,
      disabled: user?.disabledAt !== undefined,
      added_at: member.addedAt,
      added_by: member.addedBy,
    }
  })
}

export const presentMember = async (member: Member): Promise<MemberView> => {
  const [view] = await presentMembers([member])
  if (!view) throw new Error('A presenter left out what it was given.')
  return view
}
