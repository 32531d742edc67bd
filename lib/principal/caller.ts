import { type Clock, systemClock } from '../core/clock.ts'
import { unauthenticated } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { ApiKey, isValid, type KeyClaim, keyKey, readClaim } from './key.ts'
import { type PrincipalId, principalKey, User } from './principal.ts'

/** Who makes a request, as its key proves. */
export type Caller = {
  keyId: Id<'key'>
  scopes: ApiKey['scopes']
  principalId: PrincipalId
} & ({ kind: 'user'; id: Id<'user'>; role: User['role'] } | { kind: 'agent'; id: Id<'agent'> })

/** The items that prove a caller, as far as the key's text names them. */
export const callerKeys = ({ keyId, subjectId }: KeyClaim): table.Key[] => [
  keyKey(keyId),
  ...(subjectId?.startsWith('user_') ? [principalKey(subjectId as Id<'user'>)] : []),
]

/** The caller of a key's text, from items read before, or after one more read. */
export const proveCaller = async (
  text: string,
  claim: KeyClaim,
  found: table.Found,
  clock: Clock = systemClock,
): Promise<Caller> => {
  const key = found.get(ApiKey, keyKey(claim.keyId))
  if (!key || !isValid(key, text, clock)) throw unauthenticated()
  const { id: keyId, scopes, principalId, subjectId } = key
  if (isAgentId(subjectId)) return { kind: 'agent', id: subjectId, keyId, scopes, principalId }
  const user =
    found.get(User, principalKey(subjectId)) ?? (await table.get(User, principalKey(subjectId)))
  if (!user) throw unauthenticated()
  return { kind: 'user', id: user.id, role: user.role, keyId, scopes, principalId }
}

/** The caller of a key's text, or UNAUTHENTICATED: one batched read for a key of ours. */
export const authenticate = async (text: string, clock: Clock = systemClock): Promise<Caller> => {
  const claim = readClaim(text)
  return proveCaller(text, claim, await table.batchGet(callerKeys(claim)), clock)
}

const isAgentId = (id: ApiKey['subjectId']): id is Id<'agent'> => id.startsWith('agent_')
