import { auditWrite } from '../audit/audit.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { optionalConfig, variableOf } from '../core/config.ts'
import { AppError } from '../core/errors.ts'
import { derivedId, type Id } from '../core/ids.ts'
import type * as table from '../data/table.ts'
import { type ApiKey, createKey } from './key.ts'
import { newUser } from './principal.ts'
import { hashOf, sameText } from './secret.ts'

/** So long that nobody guesses it, in characters: `openssl rand -base64 32` gives 44. */
export const MIN_CLAIM_CHARS = 32

// Access patterns: whether a secret has made its admin.
const claimKey = (hash: string): table.Key => ({ pk: `claim#${hash}`, sk: 'claim' })

/**
 * Makes an admin and a key, once for each secret that a deployment was given: NOT_FOUND for
 * another text or where there is none, INVALID_STATE for one that was used. Whoever loses the key
 * deploys another secret.
 */
export const claimInstance = async (
  { secret, name }: { secret: string; name: string },
  clock: Clock = systemClock,
): Promise<{ userId: Id<'user'>; key: ApiKey; text: string }> => {
  const expected = optionalConfig('claimSecret')
  if (expected !== undefined && expected.length < MIN_CLAIM_CHARS)
    throw new AppError(
      'NOT_CONFIGURED',
      `${variableOf('claimSecret')} must have at least ${MIN_CLAIM_CHARS} characters.`,
    )
  if (expected === undefined || !sameText(secret, expected))
    throw new AppError('NOT_FOUND', 'That is not the secret that this instance is claimed with.')
  const hash = hashOf(secret)
  const id = derivedId('user', 'claim', hash)
  const createdAt = isoNow(clock)
  const { key, text, created } = await createKey(
    { name: 'First key', subjectId: id, principalId: id, scopes: ['decide'] },
    {
      clock,
      also: [
        { insert: { userId: id, createdAt }, key: claimKey(hash) },
        ...newUser({ id, name, role: 'admin', createdAt }),
        auditWrite('instance', { by: id, action: 'instance-claimed', target: id }, clock),
      ],
    },
  )
  if (created) return { userId: id, key, text }
  throw new AppError(
    'INVALID_STATE',
    'This secret has made its admin. If the key is lost, deploy another secret and claim with that.',
  )
}
