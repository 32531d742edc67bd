import { createHmac } from 'node:crypto'
import * as z from 'zod'
import { auditWrite } from '../audit/audit.ts'
import { cut } from '../core/clip.ts'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { type Id, idOf } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { hasHash, hashOf, newSecret, SECRET_PATTERN } from './secret.ts'

const HOUR_MS = 3_600_000
/** How long a session counts, used or not: a week, well within the 30 days of NIST SP 800-63B, AAL1. */
export const SESSION_HOURS = 7 * 24
/** How long it counts without a request. */
export const SESSION_IDLE_HOURS = 24
/** How exactly it is kept when a session was last used: a write at most this often. */
export const SEEN_EVERY_MINUTES = 10
/** What is kept of what a browser says of itself, in characters. */
export const MAX_USER_AGENT_CHARS = 200

export const Session = z.object({
  id: idOf('session'),
  userId: idOf('user'),
  /** SHA-256 of the cookie's whole text, which nobody can be shown again. */
  hash: z.string(),
  /** What the browser said it is, as it signed in. */
  userAgent: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  revokedAt: z.iso.datetime().optional(),
})
export type Session = z.infer<typeof Session>

/** When a session was last used, to ten minutes: apart from it, so that using one can't change one. */
const Seen = z.object({ at: z.iso.datetime() })

// Access patterns: one session by id, with when it was last used; a user's sessions, newest first.
export const sessionKey = (id: Id<'session'>): table.Key => ({ pk: id, sk: 'session' })
export const seenKey = (id: Id<'session'>): table.Key => ({ pk: `seen#${id}`, sk: 'seen' })
const indexesOf = ({ userId, createdAt, id }: Session) => ({
  gsi1pk: `${userId}#session`,
  gsi1sk: `${createdAt}#${id}`,
})

const ULID = '[0-9A-HJKMNP-TV-Z]{26}'
const SESSION_TEXT = new RegExp(`^ses_(?<session>${ULID})_(?<user>${ULID})_${SECRET_PATTERN}$`)

/** What a cookie's text says of itself: which rows to read. It proves nothing. */
export type SessionClaim = { sessionId: Id<'session'>; userId: Id<'user'> }

export const readSession = (text: string): SessionClaim | undefined => {
  const groups = SESSION_TEXT.exec(text)?.groups
  return groups && { sessionId: `session_${groups.session}`, userId: `user_${groups.user}` }
}

/**
 * A session and the cookie's text for it, which is in the answer and nowhere else. The writes are
 * for the transaction that admits its user; the first fails where the id has a session already.
 */
export const newSession = (
  { id, userId, userAgent }: Pick<Session, 'id' | 'userId' | 'userAgent'>,
  clock: Clock = systemClock,
): { session: Session; text: string; writes: TransactionWrite[] } => {
  const text = `ses_${id.slice('session_'.length)}_${userId.slice('user_'.length)}_${newSecret()}`
  const session: Session = {
    id,
    userId,
    hash: hashOf(text),
    userAgent: cut(userAgent, MAX_USER_AGENT_CHARS).toWellFormed(),
    createdAt: isoNow(clock),
    expiresAt: isoIn(SESSION_HOURS * HOUR_MS, clock),
  }
  const ttl = Math.ceil(Date.parse(session.expiresAt) / 1_000)
  return {
    session,
    text,
    writes: [
      { insert: session, key: sessionKey(id), indexes: indexesOf(session), ttl },
      { put: { at: session.createdAt }, key: seenKey(id), ttl },
    ],
  }
}

/** The session of a cookie's text where it still counts, from rows read before. */
export const proveSession = (
  text: string,
  { sessionId }: SessionClaim,
  found: table.Found,
  clock: Clock = systemClock,
): (Session & { seenAt: string }) | undefined => {
  const session = found.get(Session, sessionKey(sessionId))
  const seen = found.get(Seen, seenKey(sessionId))
  if (!session || !seen || !hasHash(session.hash, text)) return undefined
  return counts(session, seen.at, clock) ? { ...session, seenAt: seen.at } : undefined
}

const counts = (session: Session, seenAt: string, clock: Clock): boolean =>
  session.revokedAt === undefined &&
  session.expiresAt > isoNow(clock) &&
  seenAt > isoIn(-SESSION_IDLE_HOURS * HOUR_MS, clock)

/** Keeps that a session was used, where the last time is long enough ago; it never ends one later. */
export const keepSeen = async (
  { id, seenAt }: { id: Id<'session'>; seenAt: string },
  clock: Clock = systemClock,
): Promise<void> => {
  const limit = isoIn(-SEEN_EVERY_MINUTES * 60_000, clock)
  if (seenAt > limit) return
  await table.update(
    Seen,
    seenKey(id),
    { set: { at: isoNow(clock) } },
    { where: { at: is.atMost(limit) } },
  )
}

/** What a session's page sends along with writes: only who can read its own answers knows it. */
export const csrfTokenOf = (text: string): string =>
  createHmac('sha256', text).update('csrf').digest('base64url')

export type ListedSession = Session & { seenAt: string }

/** A user's sessions that still count, newest first; there are few. */
export const listSessions = async (
  userId: Id<'user'>,
  clock: Clock = systemClock,
): Promise<ListedSession[]> => {
  const sessions = await table.queryAll(Session, {
    index: 'gsi1',
    pk: `${userId}#session`,
    newestFirst: true,
  })
  const found = await table.batchGet(sessions.map(({ id }) => seenKey(id)))
  return sessions.flatMap(session => {
    const seenAt = found.get(Seen, seenKey(session.id))?.at
    return seenAt !== undefined && counts(session, seenAt, clock) ? [{ ...session, seenAt }] : []
  })
}

export const getSession = (id: Id<'session'>) => table.get(Session, sessionKey(id))

/**
 * Ends a session for good; again changes nothing. Where someone else than its user ends it, the
 * user's log says who.
 */
export const revokeSession = async (
  { id, userId }: Pick<Session, 'id' | 'userId'>,
  by: { id: string; keyId: Id<'key'> | Id<'session'> },
  clock: Clock = systemClock,
): Promise<void> => {
  const isOwn = by.id === userId
  await transact([
    {
      key: sessionKey(id),
      update: { set: { revokedAt: isoNow(clock) } },
      where: { revokedAt: is.absent },
    },
    ...(isOwn
      ? []
      : [
          auditWrite(
            userId,
            { by: by.id, keyId: by.keyId, action: 'session-revoked', target: id },
            clock,
          ),
        ]),
  ])
}
