import type { Configuration } from 'openid-client'
import * as z from 'zod'
import { config, optionalConfig, publicUrl } from '../core/config.ts'
import { AppError } from '../core/errors.ts'
import { hashOf } from './secret.ts'

/** Where the provider sends people back to; it knows this address to the letter. */
export const CALLBACK_PATH = '/sign-in/callback'
/** How far the provider's clock may be from ours. */
export const CLOCK_TOLERANCE_SECONDS = 60
/** How long each question to the provider may take: four of them fit into one request of ours. */
export const TIMEOUT_SECONDS = 5
const DEFAULT_SCOPE = 'openid email profile'

/** What only the browser that begins a sign-in and the provider's answer to it may know. */
export type Challenge = { state: string; nonce: string; verifier: string }

/** Who the provider says someone is: the issuer and the subject, whatever else it tells. */
export type Person = { issuer: string; subject: string; claims: Record<string, unknown> }

/** Whether people sign in with a provider; without one they have keys. */
export const hasProvider = (): boolean => optionalConfig('oidcIssuer') !== undefined

/** The address at the provider that a sign-in begins at; SIGN_IN_FAILED where it doesn't answer. */
export const authorizationUrl = async ({ state, nonce, verifier }: Challenge): Promise<string> => {
  const client = await import('openid-client')
  const url = client.buildAuthorizationUrl(await configuration(), {
    redirect_uri: redirectUri(),
    scope: optionalConfig('oidcScope') ?? DEFAULT_SCOPE,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  })
  return url.href
}

/**
 * Who came back from the provider, by the query of the callback. The tokens are used here and
 * kept nowhere. SIGN_IN_REFUSED where the provider says no, SIGN_IN_FAILED where what it says
 * doesn't check out.
 */
export const redeem = async (query: string, challenge: Challenge): Promise<Person> => {
  const client = await import('openid-client')
  const provider = await configuration()
  const callback = new URL(`${redirectUri()}?${query}`)
  try {
    const tokens = await client.authorizationCodeGrant(provider, callback, {
      pkceCodeVerifier: challenge.verifier,
      expectedState: challenge.state,
      expectedNonce: challenge.nonce,
      idTokenExpected: true,
    })
    const { iss, sub, ...claims } = IdToken.parse(tokens.claims())
    const more = provider.serverMetadata().userinfo_endpoint
      ? await client.fetchUserInfo(provider, tokens.access_token, sub)
      : {}
    return { issuer: iss, subject: sub, claims: { ...more, ...claims } }
  } catch (error) {
    throw refusalOf(error)
  }
}

const IdToken = z.looseObject({ iss: z.string(), sub: z.string().min(1) })

const redirectUri = (): string => publicUrl() + CALLBACK_PATH

let known: { name: string; configuration: Promise<Configuration> } | undefined

/** What the provider says of itself, asked for once by each process. */
const configuration = (): Promise<Configuration> => {
  const name = hashOf(
    JSON.stringify([
      optionalConfig('oidcIssuer'),
      optionalConfig('oidcClientId'),
      optionalConfig('oidcClientSecret'),
    ]),
  )
  if (known?.name === name) return known.configuration
  const found = discover()
  known = { name, configuration: found }
  // A provider that was away for a moment is asked again.
  found.catch(() => {
    if (known?.configuration === found) known = undefined
  })
  return found
}

const discover = async (): Promise<Configuration> => {
  const client = await import('openid-client')
  const issuer = issuerUrl()
  const secret = optionalConfig('oidcClientSecret')
  try {
    return await client.discovery(
      issuer,
      config('oidcClientId'),
      { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      // A client without a secret is a public one: PKCE proves that it is the same.
      secret === undefined ? client.None() : client.ClientSecretPost(secret),
      {
        timeout: TIMEOUT_SECONDS,
        // Signatures are checked although the tokens come straight from the provider.
        execute: [
          client.enableNonRepudiationChecks,
          ...(isHere(issuer) ? [client.allowInsecureRequests] : []),
        ],
      },
    )
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError(
      'SIGN_IN_FAILED',
      'The sign-in provider doesn’t answer as one does. Try again; if it stays so, the operator should look at ESPALIER_OIDC_ISSUER.',
      { cause },
    )
  }
}

/** The provider that is configured; NOT_CONFIGURED where its address is none that can be trusted. */
export const issuerUrl = (): URL => {
  const text = config('oidcIssuer')
  const url = URL.parse(text)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere(url))) return url
  throw new AppError(
    'NOT_CONFIGURED',
    'ESPALIER_OIDC_ISSUER must be the https address of an OpenID provider; http only on this machine.',
  )
}

/** Nobody listens between us and this machine. */
const isHere = ({ hostname, protocol }: URL): boolean =>
  protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)

/** A code of OAuth's own, and no text: anyone can write a query. */
const CODE = /^[a-z_]{1,40}$/

/** The provider's own words stay out: they may be anyone's, and may hold what nobody should read. */
const refusalOf = (cause: unknown): AppError => {
  if (cause instanceof AppError) return cause
  const { code, error } = cause as { code?: unknown; error?: unknown }
  const said = typeof error === 'string' && CODE.test(error) ? ` (${error})` : ''
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR')
    return new AppError('SIGN_IN_REFUSED', `The provider didn’t let you sign in${said}.`, { cause })
  if (error === 'invalid_grant')
    return new AppError(
      'SIGN_IN_REFUSED',
      'The provider knows nothing of this sign-in any more: it was used, or took too long. Sign in again.',
      { cause },
    )
  return new AppError(
    'SIGN_IN_FAILED',
    `What the sign-in provider answers doesn’t check out${said}. Sign in again; if it stays so, the operator should look at its configuration.`,
    { cause },
  )
}
