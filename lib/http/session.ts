import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { publicUrl } from '../core/config.ts'
import { AppError, unauthenticated } from '../core/errors.ts'
import type { Credential } from '../principal/caller.ts'
import { sameText } from '../principal/secret.ts'
import { csrfTokenOf } from '../principal/session.ts'
import { bearerToken } from './bearer.ts'

/** Its name says to browsers: of this host alone, and over TLS (or on this machine) only. */
export const SESSION_COOKIE = '__Host-espalier-session'
export const CSRF_HEADER = 'x-csrf-token'

const COOKIE = { path: '/', secure: true, httpOnly: true, sameSite: 'Lax' } as const

/**
 * What a request proves its caller by. A key counts where there is one, and then no cookie is
 * looked at; what only a browser sends by itself must prove on a write that our own page asked for
 * it, or it is CSRF_INVALID. UNAUTHENTICATED where there is neither.
 */
export const credentialOf = (context: Context): Credential => {
  const header = context.req.header('authorization')
  if (header !== undefined) return bearerToken(header)
  const session = sessionText(context)
  if (session === undefined) throw unauthenticated()
  if (!READS.includes(context.req.method)) checkOrigin(context, session)
  return { session }
}

const READS = ['GET', 'HEAD']

/** The text of the session's cookie. */
export const sessionText = (context: Context): string | undefined =>
  getCookie(context, SESSION_COOKIE)

/** Gives a browser a cookie until a time, or takes it away. */
export const giveCookie = (
  context: Context,
  name: string,
  cookie: { text: string; maxAgeSeconds: number } | undefined,
): void =>
  setCookie(context, name, cookie?.text ?? '', { ...COOKIE, maxAge: cookie?.maxAgeSeconds ?? 0 })

const checkOrigin = (context: Context, session: string): void => {
  const origin = context.req.header('origin')
  const site = context.req.header('sec-fetch-site')
  // Each browser of today names the origin of a write; where it doesn't, the fetch metadata tells.
  const isOurs =
    origin === undefined ? site === 'same-origin' : origin === new URL(publicUrl()).origin
  if (!isOurs)
    throw csrfInvalid(
      'The request comes from another site. Writes by cookie come from our own pages.',
    )
  const token = context.req.header(CSRF_HEADER)
  if (token === undefined || !sameText(token, csrfTokenOf(session)))
    throw csrfInvalid(
      'Send the session’s csrf_token, as GET /api/v1/sessions/current tells it, in the header X-CSRF-Token.',
    )
}

const csrfInvalid = (message: string) => new AppError('CSRF_INVALID', message)
