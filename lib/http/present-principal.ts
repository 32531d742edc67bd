import * as z from 'zod'
import type { Caller } from '../principal/caller.ts'
import type { Membership } from '../principal/member.ts'
import type { User } from '../principal/principal.ts'
import { GroupRole } from './present-group.ts'
import { KeyScope } from './present-key.ts'
import { AgentId, GroupId, KeyId, PrincipalId, SessionId, Time, UserId } from './wire.ts'

export const InstanceRole = z
  .enum(['admin', 'member'])
  .describe('Admins govern the whole instance, and everything that anyone owns.')

export const UserView = z
  .object({
    id: UserId,
    name: z.string(),
    role: InstanceRole,
    disabled: z.boolean().describe('None of the user’s keys and sessions counts.'),
    disabled_at: Time.nullable(),
    created_at: Time,
  })
  .meta({ id: 'User' })
export type UserView = z.infer<typeof UserView>

export const presentUser = (user: User): UserView => ({
  id: user.id,
  name: user.name,
  role: user.role,
  disabled: user.disabledAt !== undefined,
  disabled_at: user.disabledAt ?? null,
  created_at: user.createdAt,
})

const key = {
  principal_id: PrincipalId,
  key_id: z.union([KeyId, SessionId]).describe('The key, or the session, that was used.'),
  scopes: z.array(KeyScope),
}

export const CallerView = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('user'),
      id: UserId,
      ...key,
      name: z.string(),
      role: InstanceRole,
      groups: z
        .array(z.object({ id: GroupId, name: z.string(), role: GroupRole }))
        .describe('What the user is a member of, and as what.'),
    }),
    z.object({ kind: z.literal('agent'), id: AgentId, ...key }),
  ])
  .meta({ id: 'Caller', description: 'Whose key a request has.' })
export type CallerView = z.infer<typeof CallerView>

const keyOf = ({ principalId, keyId, scopes }: Caller) => ({
  principal_id: principalId,
  key_id: keyId,
  scopes,
})

export const presentAgentCaller = (caller: Caller & { kind: 'agent' }): CallerView => ({
  kind: caller.kind,
  id: caller.id,
  ...keyOf(caller),
})

export const presentUserCaller = (
  caller: Caller & { kind: 'user' },
  { name, memberships }: { name: string; memberships: Membership[] },
): CallerView => ({
  kind: caller.kind,
  id: caller.id,
  ...keyOf(caller),
  name,
  role: caller.role,
  groups: memberships.map(({ group, role }) => ({ id: group.id, name: group.name, role })),
})
