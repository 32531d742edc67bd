import * as z from 'zod'
import { AppError, notFound } from '../../lib/core/errors.ts'
import { access, demand, governingUser } from '../../lib/http/access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply } from '../../lib/http/endpoint.ts'
import { giveCookie, SESSION_COOKIE, sessionText } from '../../lib/http/session.ts'
import { SessionId, Time, UserId } from '../../lib/http/wire.ts'
import { type Caller, sessionOf } from '../../lib/principal/caller.ts'
import {
  csrfTokenOf,
  getSession,
  type ListedSession,
  listSessions,
  revokeSession,
  SEEN_EVERY_MINUTES,
} from '../../lib/principal/session.ts'

const tag = 'Sign-in'

const SessionView = z
  .object({
    id: SessionId,
    user_id: UserId,
    user_agent: z.string().describe('What the browser said it is, as it signed in.'),
    created_at: Time,
    last_seen_at: Time.describe(`To ${SEEN_EVERY_MINUTES} minutes.`),
    expires_at: Time,
    current: z.boolean().describe('Whether this request came with it.'),
  })
  .meta({ id: 'Session' })

const OfUser = z.object({
  user_id: UserId.optional().describe('Someone else’s, for admins.'),
})

/** The session that a request came with: a key has none. */
const ownSession = access({
  who: 'A session, about itself.',
  errors: ['NOT_FOUND'],
  find: async ({ caller }) => {
    const id = sessionOf(caller)
    const session = id && (await getSession(id))
    if (session) return session
    throw new AppError('NOT_FOUND', 'This request has a key, and no session.')
  },
})

const governedSession = access({
  who: 'The user whose session it is, or an admin.',
  what: 'session',
  params: { id: SessionId },
  errors: ['NOT_FOUND'],
  find: async ({ caller, params: { id } }) => {
    const session = await getSession(id)
    const missing = () => notFound('session', id)
    if (!session) throw missing()
    await demand(caller, 'manage-sessions', { principalId: session.userId }, missing)
    return session
  },
})

export const endpoints = {
  getCurrentSession: endpoint(
    {
      method: 'GET',
      path: '/api/v1/sessions/current',
      tag,
      summary: 'Show the session of this request',
      description: 'With the token that writes need in the header X-CSRF-Token.',
      access: ownSession,
      responses: {
        200: z.object({
          id: SessionId,
          user_id: UserId,
          expires_at: Time,
          csrf_token: z.string(),
        }),
      },
    },
    ({ context, subject: { id, userId, expiresAt } }) => {
      context.header('cache-control', 'no-store')
      const csrf_token = csrfTokenOf(sessionText(context) ?? '')
      return reply(200, { id, user_id: userId, expires_at: expiresAt, csrf_token })
    },
  ),

  signOut: endpoint(
    {
      method: 'POST',
      path: '/api/v1/sign-out',
      tag,
      summary: 'Sign out',
      description: 'Ends the session of this request, and takes its cookie away.',
      access: ownSession,
      responses: { 200: z.object({ id: SessionId, revoked: z.literal(true) }) },
    },
    async ({ context, subject, caller }) => {
      await revokeSession(subject, caller)
      giveCookie(context, SESSION_COOKIE, undefined)
      return reply(200, { id: subject.id, revoked: true })
    },
  ),

  listSessions: endpoint(
    {
      method: 'GET',
      path: '/api/v1/sessions',
      tag,
      summary: 'List where someone is signed in',
      access: governingUser,
      query: OfUser,
      responses: { 200: z.array(SessionView) },
      errors: ['NOT_FOUND'],
    },
    async ({ subject: caller, query }) => {
      const userId = await userOf(caller, query.user_id)
      const sessions = await listSessions(userId)
      return reply(
        200,
        sessions.map(session => present(session, caller)),
      )
    },
  ),

  revokeSessions: endpoint(
    {
      method: 'DELETE',
      path: '/api/v1/sessions',
      tag,
      summary: 'Sign someone out everywhere',
      description: 'Ends every session, that of this request among them. Keys are no sessions.',
      access: governingUser,
      query: OfUser,
      responses: { 200: z.object({ revoked: z.int().describe('How many there were.') }) },
      errors: ['NOT_FOUND'],
    },
    async ({ subject: caller, query }) => {
      const sessions = await listSessions(await userOf(caller, query.user_id))
      for (const session of sessions) await revokeSession(session, caller)
      return reply(200, { revoked: sessions.length })
    },
  ),

  revokeSession: endpoint(
    {
      method: 'DELETE',
      path: '/api/v1/sessions/{id}',
      tag,
      summary: 'End a session',
      description: 'For good. Ending it again changes nothing.',
      access: governedSession,
      responses: { 200: z.object({ id: SessionId, revoked: z.literal(true) }) },
    },
    async ({ subject, caller }) => {
      await revokeSession(subject, caller)
      return reply(200, { id: subject.id, revoked: true })
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))

/** Whose sessions are asked for: one's own, unless an admin names someone. */
const userOf = async (caller: Caller & { kind: 'user' }, id = caller.id) => {
  await demand(caller, 'manage-sessions', { principalId: id }, () => notFound('user', id))
  return id
}

const present = (session: ListedSession, caller: Caller) => ({
  id: session.id,
  user_id: session.userId,
  user_agent: session.userAgent,
  created_at: session.createdAt,
  last_seen_at: session.seenAt,
  expires_at: session.expiresAt,
  current: session.id === caller.keyId,
})
