import { PROVIDERS } from '../llm/model-reference.ts'
import { keyVariable } from '../llm/provider.ts'

/** The secrets that hold `version:base64` pairs of keys; without them nothing can be deployed. */
export const KEYRING_SECRETS = {
  ESPALIER_SETTINGS_KEYS: 'SettingsKeys',
  ESPALIER_LINK_KEYS: 'LinkKeys',
} as const

/** The secrets of signing in; without them nobody signs in, or claims to be the first admin. */
export const SIGN_IN_SECRETS = {
  ESPALIER_OIDC_CLIENT_SECRET: 'OidcClientSecret',
  ESPALIER_CLAIM_SECRET: 'ClaimSecret',
} as const

/** What is sent along to a receiver of traces, its key as a rule; without it nothing is. */
export const TRACE_HEADERS_SECRET = 'TraceHeaders'

const pascalCase = (text: string): string =>
  text
    .split('-')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/**
 * The secrets that hold the providers' keys, each with the variable that its driver reads. A
 * provider without a key is one that nobody uses here.
 */
export const PROVIDER_SECRETS = PROVIDERS.flatMap(provider => {
  const variable = keyVariable(provider)
  return variable === undefined ? [] : [{ secret: `${pascalCase(provider)}ApiKey`, variable }]
})
