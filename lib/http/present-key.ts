import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { type ApiKey, KEY_SCOPES } from '../principal/key.ts'
import { KEY_USE_MINUTES, usesOf } from '../principal/key-use.ts'
import { AgentId, KeyId, PrincipalId, Time, UserId } from './wire.ts'

export const KeyScope = z
  .enum(KEY_SCOPES)
  .describe('What a key may do beyond reading and running: `decide` approves and settles calls.')

export const KeyView = z
  .object({
    id: KeyId,
    name: z.string(),
    acts_for: z.union([UserId, AgentId]).describe('The user or the agent whose key it is.'),
    principal_id: PrincipalId,
    scopes: z.array(KeyScope),
    state: z.enum(['active', 'expired', 'revoked']),
    created_at: Time,
    created_by: UserId.nullable().describe('Null: it was made as the instance was set up.'),
    expires_at: Time.nullable(),
    revoked_at: Time.nullable(),
    last_used_at: Time.nullable().describe(
      `To ${KEY_USE_MINUTES} minutes: a use within so long after another is not noted.`,
    ),
  })
  .meta({ id: 'Key', description: 'A key without its text, which is shown only as it is made.' })
export type KeyView = z.infer<typeof KeyView>

export const NewKeyView = z
  .object({
    id: KeyId,
    name: z.string(),
    key: z.string().describe('The text: what a request sends as its bearer token.'),
    scopes: z.array(KeyScope),
    expires_at: Time.nullable(),
  })
  .meta({ id: 'ShownKey', description: 'A key with its text, this once.' })

/** Keys on the wire, with when each was last used; one batched read for all. */
export const presentKeys = async (
  keys: ApiKey[],
  clock: Clock = systemClock,
): Promise<KeyView[]> => {
  const uses = await usesOf(keys.map(({ id }) => id))
  return keys.map(key => ({
    id: key.id,
    name: key.name,
    acts_for: key.subjectId,
    principal_id: key.principalId,
    scopes: key.scopes,
    state: stateOf(key, clock),
    created_at: key.createdAt,
    created_by: key.createdBy ?? null,
    expires_at: key.expiresAt ?? null,
    revoked_at: key.revokedAt ?? null,
    last_used_at: uses.get(key.id) ?? null,
  }))
}

const stateOf = ({ revokedAt, expiresAt }: ApiKey, clock: Clock): KeyView['state'] => {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= isoNow(clock) ? 'expired' : 'active'
}
