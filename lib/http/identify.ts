import { authenticate, type Caller, type Credential, sessionOf } from '../principal/caller.ts'
import { limitCaller } from '../principal/rate-limit.ts'
import { keepSeen } from '../principal/session.ts'

/**
 * Proves who asks, or UNAUTHENTICATED; TOO_MANY_REQUESTS once the key or session has had its share.
 * That a session was used is kept here and not where operations run: no tool's role can write it.
 */
export const identify = async (credential: Credential): Promise<Caller> => {
  const caller = await authenticate(credential)
  await limitCaller(caller)
  const id = sessionOf(caller)
  if (id !== undefined && caller.seenAt !== undefined) await keepSeen({ id, seenAt: caller.seenAt })
  return caller
}
