import * as z from 'zod'
import { auditWrite } from '../audit/audit.ts'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { transact } from '../data/transact.ts'
import type { Caller } from './caller.ts'
import { GroupRole } from './group.ts'
import { User } from './principal.ts'
import { hasHash, hashOf, newSecret, SECRET_PATTERN } from './secret.ts'

const HOUR_MS = 3_600_000
/** How long an invitation is open, unless it says otherwise. */
export const INVITATION_HOURS = 7 * 24
export const MAX_INVITATION_HOURS = 30 * 24
/** How long one is still listed after its end. */
const KEPT_HOURS = 30 * 24

export const Invitation = z.object({
  id: idOf('invitation'),
  /** SHA-256 of the token, which nobody can be shown again. */
  hash: z.string(),
  /** What whoever takes it is in the instance. */
  role: User.shape.role,
  groupId: idOf('group').optional(),
  groupRole: GroupRole.optional(),
  /** Whose it is alone: an e-mail that the provider has verified. */
  email: z.string().optional(),
  createdAt: z.iso.datetime(),
  createdBy: idOf('user'),
  expiresAt: z.iso.datetime(),
  revokedAt: z.iso.datetime().optional(),
  takenAt: z.iso.datetime().optional(),
  takenBy: idOf('user').optional(),
})
export type Invitation = z.infer<typeof Invitation>

// Access patterns: one invitation by id; those into a group, and those into the instance alone,
// newest first.
export const invitationKey = (id: Id<'invitation'>): table.Key => ({ pk: id, sk: 'invitation' })
const listOf = (groupId: Id<'group'> | undefined) => `${groupId ?? 'instance'}#invitation`
const indexesOf = ({ groupId, createdAt, id }: Invitation) => ({
  gsi1pk: listOf(groupId),
  gsi1sk: `${createdAt}#${id}`,
})

const ULID = '[0-9A-HJKMNP-TV-Z]{26}'
const INVITATION_TEXT = new RegExp(`^inv_(?<id>${ULID})_${SECRET_PATTERN}$`)

export type NewInvitation = Pick<Invitation, 'id' | 'role' | 'groupId' | 'groupRole' | 'email'> & {
  hours?: number | undefined
}
type By = Pick<Caller, 'keyId' | 'expiresAt'> & { id: Id<'user'> }

/**
 * Makes an invitation and its token, which is in the answer and nowhere else. It is open no longer
 * than the key counts that made it. INVALID_STATE for an id that is taken.
 */
export const createInvitation = async (
  { hours = INVITATION_HOURS, ...invitation }: NewInvitation,
  by: By,
  clock: Clock = systemClock,
): Promise<{ invitation: Invitation; token: string }> => {
  const { id, role, groupId, groupRole, email } = invitation
  const token = `inv_${id.slice('invitation_'.length)}_${newSecret()}`
  const [expiresAt = ''] = [isoIn(hours * HOUR_MS, clock), by.expiresAt ?? LAST].toSorted()
  const whole: Invitation = {
    ...invitation,
    ...(email === undefined ? {} : { email: email.toLowerCase() }),
    hash: hashOf(token),
    createdAt: isoNow(clock),
    createdBy: by.id,
    expiresAt,
  }
  const ttl = Math.ceil(Date.parse(whole.expiresAt) / 1_000) + KEPT_HOURS * 3_600
  const outcome = await transact([
    { insert: whole, key: invitationKey(id), indexes: indexesOf(whole), ttl },
    auditWrite(
      logOf(whole),
      {
        by: by.id,
        keyId: by.keyId,
        action: 'invitation-made',
        target: id,
        to: { role, group_id: groupId ?? null, group_role: groupRole ?? null },
      },
      clock,
    ),
  ])
  if (outcome.ok) return { invitation: whole, token }
  throw new AppError(
    'INVALID_STATE',
    `The invitation ${id} was made under this Idempotency-Key, and its token is shown only once. If it was lost, revoke it and make another one.`,
    { details: { id } },
  )
}

/** Later than any time that is stored. */
const LAST = '~'

export const getInvitation = (id: Id<'invitation'>) => table.get(Invitation, invitationKey(id))

/** One page of the invitations into a group, or into the instance alone; newest first. */
export const listInvitations = (
  groupId: Id<'group'> | undefined,
  page: { limit: number; cursor?: string },
) => table.query(Invitation, { index: 'gsi1', pk: listOf(groupId), newestFirst: true, ...page })

export const statusOf = (
  { takenAt, revokedAt, expiresAt }: Invitation,
  clock: Clock = systemClock,
): 'taken' | 'revoked' | 'expired' | 'open' => {
  if (takenAt !== undefined) return 'taken'
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt > isoNow(clock) ? 'open' : 'expired'
}

/** Ends an invitation that nobody has taken; again changes nothing. INVALID_STATE once it is taken. */
export const revokeInvitation = async (
  invitation: Invitation,
  by: By,
  clock: Clock = systemClock,
): Promise<void> => {
  const outcome = await transact([
    {
      key: invitationKey(invitation.id),
      update: { set: { revokedAt: isoNow(clock) } },
      where: { revokedAt: is.absent, takenAt: is.absent },
    },
    auditWrite(
      logOf(invitation),
      { by: by.id, keyId: by.keyId, action: 'invitation-revoked', target: invitation.id },
      clock,
    ),
  ])
  if (outcome.ok || (await getInvitation(invitation.id))?.takenAt === undefined) return
  throw new AppError(
    'INVALID_STATE',
    'Someone has taken this invitation. Disable the user instead.',
  )
}

export const GONE =
  'There is no such invitation: it was used, revoked, or is too old. Ask for a new one.'

/** The invitation of a token while it is open; SIGN_IN_REFUSED for every other text. */
export const openInvitation = async (
  token: string,
  clock: Clock = systemClock,
): Promise<Invitation> => {
  const id = INVITATION_TEXT.exec(token)?.groups?.id
  const invitation = id === undefined ? undefined : await getInvitation(`invitation_${id}`)
  if (invitation && hasHash(invitation.hash, token) && statusOf(invitation, clock) === 'open')
    return invitation
  throw new AppError('SIGN_IN_REFUSED', GONE)
}

/** What makes admins is the instance's to know. */
export const logOf = ({ role, groupId }: Invitation) =>
  role === 'admin' ? 'instance' : (groupId ?? 'instance')
