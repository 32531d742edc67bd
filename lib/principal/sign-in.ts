import * as z from 'zod'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { derivedId, type Id } from '../core/ids.ts'
import { type Admitted, admit } from './identity.ts'
import { authorizationUrl, type Challenge, redeem } from './provider.ts'
import { seal, unseal } from './sealed.ts'
import { newSecret, sameText } from './secret.ts'

/** How long someone may take at the provider. */
export const SIGN_IN_MINUTES = 10

/** What a browser keeps, sealed, from the beginning of a sign-in to its end. */
const Begun = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  invitation: z.string().optional(),
  expiresAt: z.iso.datetime(),
})
type Begun = z.infer<typeof Begun>

/** A sign-in's first half: where to send the browser, and what it keeps meanwhile. */
export const beginSignIn = async (
  { returnTo, invitation }: { returnTo: string; invitation?: string },
  clock: Clock = systemClock,
): Promise<{ url: string; sealed: string }> => {
  const challenge: Challenge = { state: newSecret(), nonce: newSecret(), verifier: newSecret() }
  const begun: Begun = {
    ...challenge,
    returnTo,
    ...(invitation === undefined ? {} : { invitation }),
    expiresAt: isoIn(SIGN_IN_MINUTES * 60_000, clock),
  }
  return { url: await authorizationUrl(challenge), sealed: seal(JSON.stringify(begun)) }
}

/**
 * A sign-in's second half: SIGN_IN_REFUSED unless this very browser began it, lately, and it has
 * not ended yet. The session's id follows from the state: one sign-in can't make two.
 */
export const endSignIn = async (
  { query, sealed, userAgent }: { query: string; sealed: string | undefined; userAgent: string },
  clock: Clock = systemClock,
): Promise<Admitted & { returnTo: string }> => {
  const begun = readBegun(sealed, clock)
  // Asked first: to a browser that began none, nothing of an answer is looked at.
  const states = new URLSearchParams(query).getAll('state')
  if (states.length !== 1 || !sameText(states[0] ?? '', begun.state)) throw notBegun()
  const person = await redeem(query, begun)
  const sessionId: Id<'session'> = derivedId('session', begun.state)
  const { invitation, returnTo } = begun
  const admitted = await admit(
    person,
    { sessionId, userAgent, ...(invitation === undefined ? {} : { invitation }) },
    clock,
  )
  return { ...admitted, returnTo }
}

const readBegun = (sealed: string | undefined, clock: Clock): Begun => {
  const text = sealed === undefined ? undefined : unseal(sealed)
  if (text === undefined) throw notBegun()
  const begun = Begun.parse(JSON.parse(text))
  if (begun.expiresAt > isoNow(clock)) return begun
  throw new AppError(
    'SIGN_IN_REFUSED',
    `This sign-in took more than ${SIGN_IN_MINUTES} minutes. Sign in again.`,
  )
}

const notBegun = () =>
  new AppError(
    'SIGN_IN_REFUSED',
    'This browser didn’t begin this sign-in, or began another one since. Sign in again.',
  )

/** Never another site's page: browsers read backslashes as slashes, and drop tabs and line ends. */
const LOCAL_PATH = /^\/(?![/\\])[^\\\p{Cc}\s]*$/u
/** Sealed into a cookie, of which browsers keep 4,096 bytes (RFC 6265). */
export const MAX_RETURN_PATH_BYTES = 1_000

/** Where someone goes once signed in: a path of our own, and the usual one for anything else. */
export const returnPath = (text: string | undefined, usual: string): string =>
  text !== undefined && isShort(text) && LOCAL_PATH.test(text) ? text : usual

const isShort = (text: string): boolean => Buffer.byteLength(text) <= MAX_RETURN_PATH_BYTES
