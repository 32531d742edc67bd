import { AppError } from './errors.ts'

/** What the deployment tells a function; each is read on first use, never at import. */
const VARIABLES = {
  table: 'ESPALIER_TABLE',
  bucket: 'ESPALIER_BUCKET',
  stateMachineArn: 'ESPALIER_STATE_MACHINE_ARN',
  functionPrefix: 'ESPALIER_FUNCTION_PREFIX',
  /** What settings are encrypted with: `version:base64` pairs, the current one first. */
  settingsKeys: 'ESPALIER_SETTINGS_KEYS',
  /** What public links are made with, in the same form. */
  linkKeys: 'ESPALIER_LINK_KEYS',
  /** Where people reach the API, without a slash at its end. */
  publicUrl: 'ESPALIER_PUBLIC_URL',
  /** Hosts inside that tools may fetch from: `host` or `host:port`, separated by commas. */
  fetchAllow: 'ESPALIER_FETCH_ALLOW',
  /** Who people sign in with: an OpenID provider's issuer, and what it knows us as. */
  oidcIssuer: 'ESPALIER_OIDC_ISSUER',
  oidcClientId: 'ESPALIER_OIDC_CLIENT_ID',
  oidcClientSecret: 'ESPALIER_OIDC_CLIENT_SECRET',
  oidcScope: 'ESPALIER_OIDC_SCOPE',
  /** Who may sign in without an invitation: `claim=value,value`, separated by semicolons. */
  oidcAllow: 'ESPALIER_OIDC_ALLOW',
  /** What whoever deployed makes the first admin with, once. */
  claimSecret: 'ESPALIER_CLAIM_SECRET',
  /** The address that e-mails come from; SES knows it, or its domain, as an identity of ours. */
  emailSender: 'ESPALIER_EMAIL_SENDER',
  /** Other limits than the usual: `key=600, address=off`. */
  rateLimits: 'ESPALIER_RATE_LIMITS',
  /** What the Router in front proves itself with, where there is one. */
  routerSecret: 'ESPALIER_ROUTER_SECRET',
  /** The least of `debug`, `info`, `warn` and `error` that is logged; `info`, where absent. */
  logLevel: 'ESPALIER_LOG_LEVEL',
  /** Where traces go, as OpenTelemetry names it: `lib/trace/` looks at it, and is off without. */
  traceEndpoint: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  /** What is sent along: `name=value` pairs, separated by commas; a receiver's key is one. */
  traceHeaders: 'OTEL_EXPORTER_OTLP_HEADERS',
} as const

export type ConfigName = keyof typeof VARIABLES
export type ConfigVariable = (typeof VARIABLES)[ConfigName]

export const variableOf = (name: ConfigName): string => VARIABLES[name]

/** The value of one configuration variable, or NOT_CONFIGURED naming what must be set. */
export const config = (name: ConfigName): string => {
  const value = optionalConfig(name)
  if (value) return value
  throw new AppError('NOT_CONFIGURED', `The environment variable ${VARIABLES[name]} is not set.`)
}

/** The value of a configuration variable that need not be set. */
export const optionalConfig = (name: ConfigName): string | undefined =>
  process.env[VARIABLES[name]] || undefined

/** Where people reach the API; a domain's URL may come with a slash at its end, and paths begin with one. */
export const publicUrl = (): string => config('publicUrl').replace(/\/+$/, '')
