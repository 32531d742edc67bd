import * as z from 'zod'
import { publicUrl } from '../core/config.ts'
import { GROUP_ROLES } from '../principal/group.ts'
import { type Invitation, statusOf } from '../principal/invitation.ts'
import { GroupId, InvitationId, Time, UserId } from './wire.ts'

export const InvitationView = z
  .object({
    id: InvitationId,
    status: z.enum(['open', 'taken', 'revoked', 'expired']),
    role: z.enum(['admin', 'member']),
    group_id: GroupId.nullable(),
    group_role: z.enum(GROUP_ROLES).nullable(),
    email: z.string().nullable(),
    created_at: Time,
    created_by: UserId,
    expires_at: Time,
    taken_by: UserId.nullable(),
  })
  .meta({ id: 'Invitation' })

export const presentInvitation = (invitation: Invitation): z.input<typeof InvitationView> => ({
  id: invitation.id,
  status: statusOf(invitation),
  role: invitation.role,
  group_id: invitation.groupId ?? null,
  group_role: invitation.groupRole ?? null,
  email: invitation.email ?? null,
  created_at: invitation.createdAt,
  created_by: invitation.createdBy,
  expires_at: invitation.expiresAt,
  taken_by: invitation.takenBy ?? null,
})

/** The page that takes an invitation. */
export const signInUrl = (token: string): string => `${publicUrl()}/sign-in?invitation=${token}`
