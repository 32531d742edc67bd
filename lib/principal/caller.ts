import * as z from 'zod'
import { type Clock, systemClock } from '../core/clock.ts'
import { unauthenticated } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { ApiKey, isValid, type KeyClaim, keyKey, readClaim } from './key.ts'
import { KeyUse, keyUseKey } from './key-use.ts'
import { PrincipalId, principalKey, User } from './principal.ts'
import { proveSession, readSession, seenKey, sessionKey } from './session.ts'

/** Who makes a request, as its key or its session proves. */
export type Caller = {
  /** The key, or the session, which acts as a key of its user with every scope. */
  keyId: Id<'key'> | Id<'session'>
  scopes: ApiKey['scopes']
  principalId: PrincipalId
  /** When the key or session was last kept as used; absent, never. */
  seenAt?: string
  /** When the key expires; absent, never. */
  expiresAt?: string
} & ({ kind: 'user'; id: Id<'user'>; role: User['role'] } | { kind: 'agent'; id: Id<'agent'> })

/** What a request proves its caller by: a key's text, or that of a session's cookie. */
export type Credential = string | { session: string }

/** What a credential says of itself, the items that prove it, and the proof from those. */
export type Claim = Pick<KeyClaim, 'subjectId' | 'principalId'> & {
  keys: table.Key[]
  /** UNAUTHENTICATED where those items show already that the credential does not count. */
  check: (found: table.Found, clock?: Clock) => void
  /** The caller, or UNAUTHENTICATED; one more read for a user whom the text of a key didn't name. */
  prove: (found: table.Found, clock?: Clock) => Promise<Caller>
}

export const claimOf = (credential: Credential): Claim =>
  typeof credential === 'string' ? claimOfKey(credential) : claimOfSession(credential.session)

/** The caller of a credential, or UNAUTHENTICATED: one batched read for one that is ours. */
export const authenticate = async (
  credential: Credential,
  clock: Clock = systemClock,
): Promise<Caller> => {
  const claim = claimOf(credential)
  return claim.prove(await table.batchGet(claim.keys), clock)
}

/** The session that a caller came with, if it was one. */
export const sessionOf = ({ keyId }: Caller): Id<'session'> | undefined =>
  keyId.startsWith('session_') ? (keyId as Id<'session'>) : undefined

const claimOfKey = (text: string): Claim => {
  const { keyId, ...claim } = readClaim(text)
  const { subjectId, principalId } = claim
  const provenKey = (found: table.Found, clock: Clock = systemClock): ApiKey => {
    const key = found.get(ApiKey, keyKey(keyId))
    if (!key || !isValid(key, text, clock)) throw unauthenticated()
    return key
  }
  return {
    ...claim,
    keys: [
      keyKey(keyId),
      keyUseKey(keyId),
      ...(subjectId ? [subjectKey(subjectId)] : []),
      ...(isUserId(principalId) ? [principalKey(principalId)] : []),
    ],
    check: (found, clock) => {
      provenKey(found, clock)
    },
    prove: async (found, clock) => {
      const key = provenKey(found, clock)
      const { id, scopes, expiresAt } = key
      const seenAt = found.get(KeyUse, keyUseKey(id))?.at
      return {
        ...(await subjectOf(key, found)),
        keyId: id,
        scopes,
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ...(seenAt === undefined ? {} : { seenAt }),
      }
    },
  }
}

/** Of an agent, what says whether its keys count: that there is one, and whose it is now. */
const OwnedAgent = z.object({ id: idOf('agent'), principalId: PrincipalId })
const subjectKey = (id: ApiKey['subjectId']): table.Key =>
  isAgentId(id) ? { pk: id, sk: 'agent' } : principalKey(id)

/** Whom a key acts for. Those of an agent end with it, and rest while its user is disabled. */
const subjectOf = async ({ subjectId }: ApiKey, found: table.Found) => {
  if (!isAgentId(subjectId)) return userCaller(await findOr(found, User, subjectKey(subjectId)))
  const agent = await findOr(found, OwnedAgent, subjectKey(subjectId))
  if (!agent) throw unauthenticated()
  const { id, principalId } = agent
  if (isUserId(principalId)) userCaller(await findOr(found, User, principalKey(principalId)))
  return { kind: 'agent' as const, id, principalId }
}

/** An item from those read before, or by one more read where the key's text didn't name it. */
const findOr = async <T>(found: table.Found, schema: z.ZodType<T>, key: table.Key) =>
  found.get(schema, key) ?? (await table.get(schema, key))

const claimOfSession = (text: string): Claim => {
  const claim = readSession(text)
  if (!claim) throw unauthenticated()
  const { sessionId, userId } = claim
  const proven = (found: table.Found, clock: Clock = systemClock) => {
    const session = proveSession(text, claim, found, clock)
    if (!session) throw unauthenticated()
    return session
  }
  return {
    subjectId: userId,
    principalId: userId,
    keys: [sessionKey(sessionId), seenKey(sessionId), principalKey(userId)],
    check: (found, clock) => {
      proven(found, clock)
    },
    prove: async (found, clock) => {
      const session = proven(found, clock)
      return {
        ...userCaller(found.get(User, principalKey(session.userId))),
        keyId: session.id,
        scopes: ['decide'],
        seenAt: session.seenAt,
      }
    },
  }
}

/** The one place that says which users count: those there are, and aren't disabled. */
const userCaller = (user: User | undefined) => {
  if (!user || user.disabledAt !== undefined) throw unauthenticated()
  return { kind: 'user' as const, id: user.id, role: user.role, principalId: user.id }
}

const isAgentId = (id: ApiKey['subjectId']): id is Id<'agent'> => id.startsWith('agent_')
const isUserId = (id: PrincipalId | undefined): id is Id<'user'> => id?.startsWith('user_') === true
