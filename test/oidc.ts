import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'
import { bind, freePort, LOOPBACK, unbind } from '../lib/local/server.ts'

export type Account = { sub: string } & Record<string, unknown>

/** A real OpenID provider on a port of this machine, at which someone is always at the keyboard. */
export const startProvider = async (redirectUri: string) => {
  const clientId = 'espalier'
  const clientSecret = randomBytes(24).toString('base64url')
  const port = await freePort()
  const issuer = `http://${LOOPBACK}:${port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const accounts = new Map<string, Account>()
  let current: string | undefined

  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    ttl: {
      AccessToken: 60,
      AuthorizationCode: 60,
      Grant: 60,
      IdToken: 60,
      Interaction: 60,
      Session: 60,
    },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    pkce: { required: () => true },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'groups', 'hd'],
    },
    features: { devInteractions: { enabled: false } },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => accounts.get(sub) ?? { sub },
    }),
    interactions: {
      url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}`,
    },
  })
  const callback = provider.callback()

  const server = createServer(async (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return callback(request, response)
    if (current === undefined)
      return provider.interactionFinished(request, response, {
        error: 'access_denied',
        error_description: 'a description that nobody should show',
      })
    const grant = new provider.Grant({ accountId: current, clientId })
    grant.addOIDCScope('openid email profile')
    await provider.interactionFinished(request, response, {
      login: { accountId: current, remember: false },
      consent: { grantId: await grant.save() },
    })
  })
  await bind(server, port)

  return {
    issuer,
    clientId,
    clientSecret,
    /** Who says yes at the provider from now on; nobody says no. */
    be: (account: Account | undefined) => {
      if (account) accounts.set(account.sub, account)
      current = account?.sub
    },
    close: () => unbind(server),
  }
}
