import { createSign, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { bind, LOOPBACK, unbind } from '../../../lib/local/server.ts'
import {
  authorizationUrl,
  CLOCK_TOLERANCE_SECONDS,
  redeem,
  TIMEOUT_SECONDS,
} from '../../../lib/principal/provider.ts'

// A provider that says whatever a test wants it to: what a real one never would.

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const challenge = { state: 'a-state', nonce: 'a-nonce', verifier: 'v'.repeat(43) }

type Claims = Record<string, unknown>
type Forged = { header?: Claims; claims?: Claims; key?: typeof privateKey; userinfo?: Claims }

let issuer: string
let forged: Forged
let isSlow = false
const asked: { path: string; body: string }[] = []

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const idToken = ({ header = {}, claims = {}, key = privateKey }: Forged): string => {
  const now = Math.floor(Date.now() / 1_000)
  const usual = {
    iss: issuer,
    sub: 'ada',
    aud: 'espalier',
    iat: now,
    exp: now + 300,
    nonce: 'a-nonce',
  }
  const signed = `${part({ alg: 'RS256', kid: 'a', ...header })}.${part({ ...usual, ...claims })}`
  if (header.alg === 'none') return `${signed}.`
  return `${signed}.${createSign('sha256').update(signed).sign(key, 'base64url')}`
}

const answers: Record<string, () => object> = {
  '/.well-known/openid-configuration': () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  }),
  '/jwks': () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'a', use: 'sig' }] }),
  '/token': () => ({ access_token: 'a-token', token_type: 'Bearer', id_token: idToken(forged) }),
  '/userinfo': () => ({ sub: 'ada', email: 'ada@example.com', ...forged.userinfo }),
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const path = request.url ?? ''
  asked.push({ path, body })
  // Its answer never comes.
  if (isSlow && path === '/token') return
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(answers[path]?.()))
})

beforeAll(async () => {
  issuer = `http://${LOOPBACK}:${await bind(server, 0)}`
})
afterAll(() => unbind(server))
beforeEach(() => {
  forged = {}
  vi.stubEnv('ESPALIER_OIDC_ISSUER', issuer)
  vi.stubEnv('ESPALIER_OIDC_CLIENT_ID', 'espalier')
  vi.stubEnv('ESPALIER_OIDC_CLIENT_SECRET', '')
  vi.stubEnv('ESPALIER_PUBLIC_URL', 'https://espalier.example')
})
afterEach(() => vi.unstubAllEnvs())

const ask = (query = 'code=a-code&state=a-state') => redeem(query, challenge)
const seconds = () => Math.floor(Date.now() / 1_000)

describe('what a provider says of someone', () => {
  it('is their issuer, their subject and their claims, the ID token’s before all others', async () => {
    forged = { claims: { name: 'Ada', email_verified: true }, userinfo: { name: 'Eve', hd: 'a' } }
    expect(await ask()).toEqual({
      issuer,
      subject: 'ada',
      claims: expect.objectContaining({
        name: 'Ada',
        email: 'ada@example.com',
        email_verified: true,
        hd: 'a',
      }),
    })
    const { body } = asked.find(({ path }) => path === '/token') ?? { body: '' }
    expect(Object.fromEntries(new URLSearchParams(body))).toMatchObject({
      code: 'a-code',
      code_verifier: challenge.verifier,
      redirect_uri: 'https://espalier.example/sign-in/callback',
      client_id: 'espalier',
    })
  })

  const refused: [string, () => Forged][] = [
    ['for another sign-in', () => ({ claims: { nonce: 'another' } })],
    ['for no sign-in', () => ({ claims: { nonce: undefined } })],
    ['for another client', () => ({ claims: { aud: 'another' } })],
    [
      'for several clients, of which another asked',
      () => ({ claims: { aud: ['espalier', 'b'], azp: 'b' } }),
    ],
    ['in another’s name', () => ({ claims: { iss: 'https://elsewhere.example' } })],
    ['of nobody', () => ({ claims: { sub: undefined } })],
    ['with another’s key', () => ({ key: other })],
    ['with no key', () => ({ header: { alg: 'none' } })],
    ['with a key that it doesn’t have', () => ({ header: { kid: 'b' } })],
    [
      'that has been over for longer than clocks differ',
      () => ({ claims: { exp: seconds() - CLOCK_TOLERANCE_SECONDS - 2 } }),
    ],
    [
      'that begins later than clocks differ',
      () => ({ claims: { nbf: seconds() + CLOCK_TOLERANCE_SECONDS + 5 } }),
    ],
    ['of someone else when asked again', () => ({ userinfo: { sub: 'eve' } })],
  ]
  it.each(refused)('is refused where it is %s', async (_, forge) => {
    forged = forge()
    await expect(ask()).rejects.toMatchObject({
      code: 'SIGN_IN_FAILED',
      message: expect.not.stringContaining('a-token'),
    })
  })

  it('is taken where its clock is off by no more than clocks are', async () => {
    forged = { claims: { exp: seconds() - CLOCK_TOLERANCE_SECONDS + 5 } }
    expect((await ask()).subject).toBe('ada')
    forged = { claims: { nbf: seconds() + CLOCK_TOLERANCE_SECONDS - 5 } }
    expect((await ask()).subject).toBe('ada')
  })
})

it(
  'a provider that takes too long is given up, in time for an answer that says so',
  async () => {
    isSlow = true
    const before = Date.now()
    await expect(ask()).rejects.toMatchObject({ code: 'SIGN_IN_FAILED' })
    isSlow = false
    expect(Date.now() - before).toBeGreaterThanOrEqual(TIMEOUT_SECONDS * 1_000 - 100)
  },
  2 * TIMEOUT_SECONDS * 1_000,
)

it('a client without a secret proves itself by its verifier alone', async () => {
  const url = new URL(await authorizationUrl(challenge))
  expect(url.searchParams.get('scope')).toBe('openid email profile')
  asked.length = 0
  await ask()
  expect(asked.find(({ path }) => path === '/token')?.body).not.toContain('client_secret')
})

it('is asked for other scopes where it is configured to', async () => {
  vi.stubEnv('ESPALIER_OIDC_SCOPE', 'openid groups')
  const url = new URL(await authorizationUrl(challenge))
  expect(url.searchParams.get('scope')).toBe('openid groups')
})
