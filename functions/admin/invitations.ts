import * as z from 'zod'
import { AppError, notFound } from '../../lib/core/errors.ts'
import { invalid } from '../../lib/core/problems.ts'
import { governingUser } from '../../lib/http/access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import {
  demandDecider,
  demandInviter,
  governedInvitation,
} from '../../lib/http/invitation-access.ts'
import { InvitationView, presentInvitation, signInUrl } from '../../lib/http/present-invitation.ts'
import { anyone } from '../../lib/http/public-access.ts'
import { creationOf } from '../../lib/http/request.ts'
import { limitOf } from '../../lib/http/stranger.ts'
import { GroupId, InvitationId, KeyId, Name, UserId } from '../../lib/http/wire.ts'
import { acceptInvitation } from '../../lib/principal/accept.ts'
import { GroupRole, getGroup } from '../../lib/principal/group.ts'
import {
  createInvitation,
  INVITATION_HOURS,
  listInvitations,
  MAX_INVITATION_HOURS,
  revokeInvitation,
} from '../../lib/principal/invitation.ts'
import { hasProvider } from '../../lib/principal/provider.ts'

const tag = 'Sign-in'

export const endpoints = {
  createInvitation: endpoint(
    {
      method: 'POST',
      path: '/api/v1/invitations',
      tag,
      summary: 'Invite someone',
      description:
        'Into the instance, and into a group where one is named. The answer is the one time that the token is shown. Whoever is to decide (an admin, an owner or admin of a group) is invited with the scope `decide`. It is open no longer than the key that makes it counts, and only while its maker may invite so.',
      access: governingUser,
      isRepeatable: true,
      body: z.strictObject({
        role: z.enum(['admin', 'member']).default('member').describe('In the instance.'),
        group_id: GroupId.optional(),
        group_role: GroupRole.optional().describe('In the group; "member" unless it says so.'),
        email: z
          .email()
          .max(254)
          .optional()
          .describe('Whose it is alone: an e-mail that the provider has verified.'),
        expires_in_hours: z
          .int()
          .min(1)
          .max(MAX_INVITATION_HOURS)
          .default(INVITATION_HOURS)
          .describe('How long it is open.'),
      }),
      responses: {
        201: InvitationView.extend({
          token: z.string(),
          url: z.url().nullable().describe('Where it is taken, if there is a provider.'),
        }),
      },
      errors: ['FORBIDDEN', 'NOT_FOUND', 'INVALID_STATE'],
    },
    async ({ subject: caller, body, context, idempotencyKey }) => {
      const { role, group_id: groupId, group_role: groupRole, email, expires_in_hours } = body
      if (groupRole !== undefined && groupId === undefined)
        throw invalid('The body is not valid.', [
          { field: 'group_role', message: 'needs a group_id.' },
        ])
      await demandInviter(caller, { role, groupId, groupRole }, () =>
        notFound('group', groupId ?? ''),
      )
      demandDecider(caller, { role, groupRole })
      if (groupId !== undefined) await getGroup(groupId)
      if (email !== undefined && !hasProvider()) throw noProvider()
      const { id } = creationOf('invitation', {
        caller,
        route: 'invitations',
        body,
        idempotencyKey,
      })
      const { invitation, token } = await createInvitation(
        {
          id,
          role,
          ...(groupId === undefined ? {} : { groupId, groupRole: groupRole ?? 'member' }),
          ...(email === undefined ? {} : { email }),
          hours: expires_in_hours,
        },
        caller,
      )
      context.header('cache-control', 'no-store')
      const url = hasProvider() ? signInUrl(token) : null
      return reply(201, { ...presentInvitation(invitation), token, url })
    },
  ),

  listInvitations: endpoint(
    {
      method: 'GET',
      path: '/api/v1/invitations',
      tag,
      summary: 'List invitations',
      description: 'Those into one group, or those into the instance alone. Tokens are in none.',
      access: governingUser,
      query: z.object({ group_id: GroupId.optional() }),
      isPaged: true,
      responses: { 200: z.array(InvitationView) },
      errors: ['FORBIDDEN', 'NOT_FOUND'],
    },
    async ({ subject: caller, query: { group_id: groupId }, page }) => {
      await demandInviter(caller, { role: 'member', groupId }, () =>
        notFound('group', groupId ?? ''),
      )
      const { items, cursor } = await listInvitations(groupId, page)
      return replyPage(
        items.map(invitation => presentInvitation(invitation)),
        cursor,
      )
    },
  ),

  revokeInvitation: endpoint(
    {
      method: 'DELETE',
      path: '/api/v1/invitations/{id}',
      tag,
      summary: 'Revoke an invitation',
      description: 'Before someone takes it. Revoking again changes nothing.',
      access: governedInvitation,
      responses: { 200: z.object({ id: InvitationId, revoked: z.literal(true) }) },
      errors: ['INVALID_STATE'],
    },
    async ({ subject: { invitation, user } }) => {
      await revokeInvitation(invitation, user)
      return reply(200, { id: invitation.id, revoked: true })
    },
  ),

  acceptInvitation: endpoint(
    {
      method: 'POST',
      path: '/api/v1/invitations/accept',
      tag,
      summary: 'Take an invitation without a provider',
      description:
        'Makes a user and a key with the scope "decide", which is shown this once. Where there is a provider, an invitation is taken by signing in.',
      access: anyone,
      body: z.strictObject({ token: z.string().min(1).max(200), name: Name }),
      responses: { 201: z.object({ user_id: UserId, key_id: KeyId, key: z.string() }) },
      errors: ['SIGN_IN_REFUSED', 'INVALID_STATE', 'TOO_MANY_REQUESTS'],
    },
    async ({ context, body }) => {
      await limitOf(context)
      const { userId, key, text } = await acceptInvitation(body)
      context.header('cache-control', 'no-store')
      return reply(201, { user_id: userId, key_id: key.id, key: text })
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))

const noProvider = () =>
  new AppError(
    'INVALID_STATE',
    'Nobody can prove an e-mail here: there is no provider. Leave "email" out.',
  )
