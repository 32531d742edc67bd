import * as z from 'zod'
import { AppError } from '../core/errors.ts'
import type { Caller } from '../principal/caller.ts'
import type { ApiKey } from '../principal/key.ts'
import { KeyScope } from './present-key.ts'
import { Name, UserId } from './wire.ts'

/** A time as every stored one is written, so that they compare as texts. */
const StoredTime = z.iso.datetime().transform(text => new Date(text).toISOString())

export const AgentKeyBody = z
  .strictObject({ name: Name, expires_at: StoredTime.optional() })
  .meta({ id: 'NewAgentKey', examples: [{ name: 'Of the nightly job' }] })

export const KeyBody = z
  .strictObject({
    name: Name,
    scopes: z.array(KeyScope).max(KeyScope.options.length).default([]),
    expires_at: StoredTime.optional(),
    user_id: UserId.optional().describe('For admins: whose it is. Absent, it is one’s own.'),
  })
  .meta({ id: 'NewKey', examples: [{ name: 'Laptop', scopes: ['decide'] }] })

/**
 * What a key that a caller makes may do, and until when: never more than the caller's own key.
 * FORBIDDEN for a scope that it lacks, and for a time after its own.
 */
export const grantOf = (
  caller: Caller,
  { scopes = [], expiresAt }: { scopes?: ApiKey['scopes']; expiresAt: string | undefined },
): Pick<ApiKey, 'scopes' | 'expiresAt'> => {
  const lacking = scopes.find(scope => !caller.scopes.includes(scope))
  if (lacking)
    throw new AppError('FORBIDDEN', `This key can't give the scope "${lacking}": it lacks it.`)
  const until = expiresAt ?? caller.expiresAt
  if (caller.expiresAt !== undefined && until !== undefined && until > caller.expiresAt)
    throw new AppError(
      'FORBIDDEN',
      `This key expires at ${caller.expiresAt}, and so does what it makes, at the latest.`,
    )
  return { scopes: [...new Set(scopes)], ...(until === undefined ? {} : { expiresAt: until }) }
}
