import * as z from 'zod'
import { auditWrite } from '../audit/audit.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { type Id, idOf, newId } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import type { TransactionWrite } from '../data/transact.ts'
import { isAllowed, nameOf, verifiedEmail } from './allowed.ts'
import { type Invitation, openInvitation } from './invitation.ts'
import { roleIn } from './member.ts'
import { adminsBy, newUser, principalKey, User } from './principal.ts'
import type { Person } from './provider.ts'
import { hashOf } from './secret.ts'
import { newSession, type Session } from './session.ts'
import { type Step, step, takeSteps } from './steps.ts'
import { taking } from './take-invitation.ts'

/** Who a provider's person is here. An e-mail is nobody: it can change hands. */
export const Identity = z.object({
  issuer: z.string(),
  subject: z.string(),
  userId: idOf('user'),
  /** Who came in by claims keeps coming in by them; who was invited is here for good. */
  admittedBy: z.enum(['invitation', 'claims']),
  createdAt: z.iso.datetime(),
})
export type Identity = z.infer<typeof Identity>

// Access patterns: one identity by issuer and subject.
const identityKey = ({ issuer, subject }: Person): table.Key => ({
  pk: `identity#${hashOf(JSON.stringify([issuer, subject]))}`,
  sk: 'identity',
})

export type Admitted = { session: Session; text: string }
type Visit = { sessionId: Id<'session'>; userAgent: string; invitation?: string }

/**
 * Lets someone in whom a provider has named: who is known, who brings an open invitation, or whose
 * claims are allowed; SIGN_IN_REFUSED for everyone else, and for a visit that has made its session.
 */
export const admit = async (
  person: Person,
  visit: Visit,
  clock: Clock = systemClock,
): Promise<Admitted> => {
  const identity = await table.get(Identity, identityKey(person))
  try {
    return await enter(person, visit, identity, clock)
  } catch (error) {
    // Who came twice at once for the first time is known by now.
    const since = identity ? undefined : await table.get(Identity, identityKey(person))
    if (!since) throw error
    return enter(person, visit, since, clock)
  }
}

const enter = async (
  person: Person,
  { sessionId, userAgent, invitation: token }: Visit,
  identity: Identity | undefined,
  clock: Clock,
): Promise<Admitted> => {
  const invitation = token === undefined ? undefined : await openInvitation(token, clock)
  if (invitation) checkEmail(invitation, person)
  const { userId, steps } = identity
    ? await returning(identity, person, invitation, clock)
    : await newcomer(person, invitation, clock)
  const { session, text, writes } = newSession({ id: sessionId, userId, userAgent }, clock)
  await takeSteps([
    ...writes.map(write => step(write, 'This sign-in was used already. Sign in again.')),
    ...steps,
  ])
  return { session, text }
}

type Admission = { userId: Id<'user'>; steps: Step[] }

const newcomer = async (
  person: Person,
  invitation: Invitation | undefined,
  clock: Clock,
): Promise<Admission> => {
  if (!invitation && !isAllowed(person.claims)) throw notInvited()
  const userId = newId('user', clock.now().getTime())
  const { issuer, subject, claims } = person
  const createdAt = isoNow(clock)
  const identity: Identity = {
    issuer,
    subject,
    userId,
    admittedBy: invitation ? 'invitation' : 'claims',
    createdAt,
  }
  const role = invitation?.role ?? 'member'
  return {
    userId,
    steps: [
      step({ insert: identity, key: identityKey(person) }, TWICE),
      ...newUser({ id: userId, name: nameOf(claims), role, createdAt }).map(write =>
        step(write, TWICE),
      ),
      ...(invitation
        ? await taking(invitation, userId, clock)
        : [step(auditWrite('instance', admitted(userId), clock), TWICE)]),
    ],
  }
}

const TWICE = 'You signed in twice at once. Try again.'

const admitted = (userId: Id<'user'>) => ({
  by: userId,
  action: 'user-admitted',
  target: userId,
})

const returning = async (
  { userId, admittedBy }: Identity,
  person: Person,
  invitation: Invitation | undefined,
  clock: Clock,
): Promise<Admission> => {
  if (admittedBy === 'claims' && !invitation && !isAllowed(person.claims)) throw notInvited()
  const user = await table.get(User, principalKey(userId))
  if (!user || user.disabledAt !== undefined) throw disabled()
  const isMember =
    invitation?.groupId !== undefined && (await roleIn(invitation.groupId, userId)) !== undefined
  const raises = invitation?.role === 'admin' && user.role === 'member'
  // An invitation to where someone is already stays open, for whomever it is meant.
  const takes =
    invitation !== undefined && (raises || (invitation.groupId !== undefined && !isMember))
  return {
    userId,
    steps: [
      ...(raises ? [raise(userId), adminsBy(1)] : []).map(write => ({
        write,
        otherwise: disabled,
      })),
      ...(takes
        ? await taking(isMember ? withoutGroup(invitation) : invitation, userId, clock)
        : []),
    ],
  }
}

const raise = (userId: Id<'user'>): TransactionWrite => ({
  key: principalKey(userId),
  update: { set: { role: 'admin' } },
  where: { role: 'member', disabledAt: is.absent },
})

const withoutGroup = ({ groupId: _, groupRole: __, ...invitation }: Invitation): Invitation =>
  invitation

const checkEmail = ({ email }: Invitation, { claims }: Person): void => {
  if (email === undefined || email === verifiedEmail(claims)) return
  throw new AppError(
    'SIGN_IN_REFUSED',
    'This invitation is for another e-mail address than the one that your provider has verified.',
  )
}

const notInvited = () =>
  new AppError(
    'SIGN_IN_REFUSED',
    'You aren’t invited. Ask an admin for an invitation, and open its link.',
  )

const disabled = () => new AppError('SIGN_IN_REFUSED', 'This user is disabled. Ask an admin.')
