import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import * as z from 'zod'
import { publicUrl } from '../../lib/core/config.ts'
import { AppError, ERROR_STATUS } from '../../lib/core/errors.ts'
import { errorFields, log } from '../../lib/core/log.ts'
import { appOf, type Env, handlerOf } from '../../lib/http/app.ts'
import { endpoint, type Raw } from '../../lib/http/endpoint.ts'
import { sayWhenAgain } from '../../lib/http/error.ts'
import { anyone } from '../../lib/http/public-access.ts'
import { redirectTo } from '../../lib/http/redirect.ts'
import { giveCookie, SESSION_COOKIE } from '../../lib/http/session.ts'
import { limitOf } from '../../lib/http/stranger.ts'
import { CALLBACK_PATH, hasProvider } from '../../lib/principal/provider.ts'
import { SESSION_HOURS } from '../../lib/principal/session.ts'
import { beginSignIn, endSignIn, returnPath, SIGN_IN_MINUTES } from '../../lib/principal/sign-in.ts'

const PATH = '/sign-in'
/** Where someone goes who was on the way to nowhere: a page that every instance has. */
const HOME = '/docs'
/** What a browser keeps of a sign-in that hasn't ended. */
const BEGUN_COOKIE = '__Host-espalier-sign-in'

const words = (description: string): Raw => ({ description, types: ['text/plain'] })
const responses = {
  302: {
    description: 'Where the browser goes on.',
    headers: { location: 'The provider, or a page of ours.', 'set-cookie': 'What it keeps.' },
  },
  403: words('Why the sign-in was refused.'),
  404: words('There is no provider here.'),
  429: words('There were too many.'),
  502: words('What the provider got wrong.'),
} satisfies Record<number, Raw>
const common = {
  method: 'GET',
  tag: 'Sign-in',
  access: anyone,
  responses,
  errors: ['NOT_CONFIGURED'],
} as const

export const endpoints = {
  signIn: endpoint(
    {
      ...common,
      path: PATH,
      summary: 'Sign in with a browser',
      description: 'Leads to the provider. A page for people: what it refuses, it says in words.',
      query: z.object({
        invitation: z.string().max(200).optional().describe('The token of an invitation.'),
        return_to: z.string().optional().describe('A path of ours to go to afterwards.'),
      }),
    },
    ({ context, query }) =>
      inWords(context, async () => {
        const { invitation } = query
        const { url, sealed } = await beginSignIn({
          returnTo: returnPath(query.return_to, HOME),
          ...(invitation === undefined ? {} : { invitation }),
        })
        giveCookie(context, BEGUN_COOKIE, { text: sealed, maxAgeSeconds: SIGN_IN_MINUTES * 60 })
        return redirectTo(context, url)
      }),
  ),

  endSignIn: endpoint(
    {
      ...common,
      path: CALLBACK_PATH,
      summary: 'Come back from the provider',
      description: 'Where the provider sends the browser, with a code that counts once.',
    },
    ({ context }) =>
      inWords(context, async () => {
        const sealed = takeBegun(context)
        const { text, returnTo } = await endSignIn({
          query: new URL(context.req.url).search.slice(1),
          sealed,
          userAgent: context.req.header('user-agent') ?? '',
        })
        giveCookie(context, SESSION_COOKIE, { text, maxAgeSeconds: SESSION_HOURS * 3_600 })
        return redirectTo(context, new URL(returnTo, publicUrl()).href)
      }),
  ),
}

export const handler = handlerOf(appOf(endpoints))

/** The cookie of a sign-in that has begun; whatever comes of it, it counts this once. */
const takeBegun = (context: Context<Env>): string | undefined => {
  const sealed = getCookie(context, BEGUN_COOKIE)
  if (sealed !== undefined) giveCookie(context, BEGUN_COOKIE, undefined)
  return sealed
}

/** Answers a person: a refusal is a page of words, with what to do next. */
const inWords = async (context: Context<Env>, work: () => Promise<Response>): Promise<Response> => {
  try {
    await limitOf(context)
    if (!hasProvider()) throw noProvider()
    return await work()
  } catch (error) {
    const status = error instanceof AppError ? ERROR_STATUS[error.code] : 500
    if (!(error instanceof AppError) || !(status in responses)) throw error
    if (status >= 500) log('warn', 'sign-in-failed', errorFields(error))
    sayWhenAgain(context, error)
    context.header('cache-control', 'no-store')
    context.header('referrer-policy', 'no-referrer')
    const again = hasProvider() ? `\n\nSign in: ${publicUrl()}${PATH}\n` : '\n'
    return context.text(error.message + again, status as ContentfulStatusCode)
  }
}

const noProvider = () =>
  new AppError(
    'NOT_FOUND',
    'Nobody signs in with a browser here: no provider is configured. Use a key, in the header "Authorization: Bearer <key>".',
  )
