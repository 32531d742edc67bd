import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { type Id, newId } from '../core/ids.ts'
import { openInvitation } from './invitation.ts'
import { type ApiKey, createKey } from './key.ts'
import { newUser } from './principal.ts'
import { hasProvider } from './provider.ts'
import { taking } from './take-invitation.ts'

export type NewcomersKey = { userId: Id<'user'>; key: ApiKey; text: string }

/**
 * Takes an invitation where people have keys: makes a user and a key. INVALID_STATE where there is
 * a provider, which says who people are; SIGN_IN_REFUSED for an invitation that isn't open.
 */
export const acceptInvitation = async (
  { token, name }: { token: string; name: string },
  clock: Clock = systemClock,
): Promise<NewcomersKey> => {
  if (hasProvider())
    throw new AppError(
      'INVALID_STATE',
      'Here an invitation is taken by signing in: open /sign-in?invitation=… in a browser.',
    )
  const invitation = await openInvitation(token, clock)
  if (invitation.email !== undefined)
    throw new AppError(
      'SIGN_IN_REFUSED',
      'This invitation is for an e-mail address, which nobody can prove here. Ask for another one.',
    )
  const id = newId('user', clock.now().getTime())
  const steps = await taking(invitation, id, clock)
  const { key, text, created } = await createKey(
    { name: 'First key', subjectId: id, principalId: id, scopes: ['decide'] },
    {
      clock,
      also: [
        ...newUser({ id, name, role: invitation.role, createdAt: isoNow(clock) }),
        ...steps.map(({ write }) => write),
      ],
    },
  )
  if (created) return { userId: id, key, text }
  // Someone else took it meanwhile, its maker may not invite any more, or the group is gone.
  await taking(await openInvitation(token, clock), id, clock)
  throw steps.at(-1)?.otherwise() ?? new AppError('INTERNAL', 'The key was not made.')
}
