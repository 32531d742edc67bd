import * as z from 'zod'
import { type AuditEntry, auditWrite } from '../../../lib/audit/audit.ts'
import { notFound } from '../../../lib/core/errors.ts'
import { demand } from '../../../lib/http/access.ts'
import { authorOf } from '../../../lib/http/author.ts'
import { endpoint, reply, replyPage } from '../../../lib/http/endpoint.ts'
import {
  managedGroup,
  managedMember,
  readableGroup,
  removableMember,
} from '../../../lib/http/group-access.ts'
import {
  GroupRole,
  MemberView,
  presentMember,
  presentMembers,
} from '../../../lib/http/present-group.ts'
import { UserId } from '../../../lib/http/wire.ts'
import type { Caller } from '../../../lib/principal/caller.ts'
import type { Member } from '../../../lib/principal/group.ts'
import { addMember, pageMembers, removeMember, setRole } from '../../../lib/principal/member.ts'

const MemberBody = z
  .strictObject({ user_id: UserId, role: GroupRole.default('member') })
  .meta({ id: 'NewMember' })
const RoleBody = z.strictObject({ role: GroupRole }).meta({ id: 'MemberRole' })

const tag = 'Groups'

/** Who is in a group, and as what. */
export const memberEndpoints = {
  listMembers: endpoint(
    {
      method: 'GET',
      path: '/api/v1/groups/{id}/members',
      tag,
      summary: 'List the members of a group',
      access: readableGroup,
      isPaged: true,
      responses: { 200: z.array(MemberView) },
    },
    async ({ subject: group, page }) => {
      const { items, cursor } = await pageMembers(group.id, page)
      return replyPage(await presentMembers(items), cursor)
    },
  ),

  addMember: endpoint(
    {
      method: 'POST',
      path: '/api/v1/groups/{id}/members',
      tag,
      summary: 'Take a user into a group',
      description:
        'Only owners make owners. Taking a member in again, in the same role, changes nothing.',
      access: managedGroup,
      body: MemberBody,
      responses: { 200: MemberView, 201: MemberView },
      errors: ['INVALID_STATE'],
    },
    async ({ subject: group, caller, body: { user_id: userId, role } }) => {
      if (role === 'owner') await demandOwn(caller, group.id)
      const { member, created } = await addMember(
        { groupId: group.id, userId, role, by: caller.id },
        { also: [entryOf(caller, { groupId: group.id, userId }, 'member-added', { to: role })] },
      )
      return reply(created ? 201 : 200, await presentMember(member))
    },
  ),

  changeMember: endpoint(
    {
      method: 'PATCH',
      path: '/api/v1/groups/{id}/members/{user_id}',
      tag,
      summary: 'Give a member another role',
      description: 'Only owners make and unmake owners, and one owner stays.',
      access: managedMember,
      body: RoleBody,
      responses: { 200: MemberView },
      errors: ['INVALID_STATE', 'ROLE_RULE_VIOLATION'],
    },
    async ({ subject: member, caller, body: { role } }) => {
      if ([role, member.role].includes('owner')) await demandOwn(caller, member.groupId)
      const change = { field: 'role', from: member.role, to: role }
      const also = [entryOf(caller, member, 'member-changed', change)]
      return reply(200, await presentMember(await setRole(member, role, { also })))
    },
  ),

  removeMember: endpoint(
    {
      method: 'DELETE',
      path: '/api/v1/groups/{id}/members/{user_id}',
      tag,
      summary: 'Take a member out, or leave',
      description: 'Everyone may leave but the last owner.',
      access: removableMember,
      responses: { 200: z.object({ user_id: UserId, removed: z.literal(true) }) },
      errors: ['INVALID_STATE', 'ROLE_RULE_VIOLATION'],
    },
    async ({ subject: member, caller }) => {
      const change = { from: member.role }
      await removeMember(member, { also: [entryOf(caller, member, 'member-removed', change)] })
      return reply(200, { user_id: member.userId, removed: true })
    },
  ),
}

const demandOwn = (caller: Caller, groupId: Member['groupId']) =>
  demand(caller, 'own', { principalId: groupId }, () => notFound('group', groupId))

const entryOf = (
  caller: Caller,
  { groupId, userId: target }: Pick<Member, 'groupId' | 'userId'>,
  action: string,
  change: Pick<AuditEntry, 'field' | 'from' | 'to'>,
) => auditWrite(groupId, { ...authorOf(caller), action, target, ...change })
