import { authenticate, type Caller, type Credential, sessionOf } from '../principal/caller.ts'
import { keepUse } from '../principal/key-use.ts'
import { limitCaller } from '../principal/rate-limit.ts'
import { keepSeen } from '../principal/session.ts'

/**
 * Proves who asks, or UNAUTHENTICATED; TOO_MANY_REQUESTS once the key or session has had its share.
 * When a key or a session was last used is kept here; where operations run, a key's is kept with the
 * call's record, and a session's isn't: no tool's role can write it.
 */
export const identify = async (credential: Credential): Promise<Caller> => {
  const caller = await authenticate(credential)
  await limitCaller(caller)
  const id = sessionOf(caller)
  if (id === undefined) await keepUse(caller)
  else if (caller.seenAt !== undefined) await keepSeen({ id, seenAt: caller.seenAt })
  return caller
}
