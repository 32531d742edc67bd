import type { ConfigVariable } from '../core/config.ts'
import type { FunctionSpec } from '../http/route-table.ts'
import { grantsOf } from './grants.ts'

/** What a deployment tells its functions. */
export type Variable = ConfigVariable

/** The variables that a function's reach asks for: what it can't reach, it isn't told of. */
export const variablesOf = (spec: Pick<FunctionSpec, 'reach' | 'tool'>): Variable[] => {
  const { reach } = spec
  const grants = grantsOf(spec)
  const needs: Record<Variable, boolean> = {
    ESPALIER_TABLE: grants.some(({ rows, lists }) => rows || lists),
    ESPALIER_BUCKET: grants.some(({ objects }) => objects),
    ESPALIER_STATE_MACHINE_ARN: reach.includes('workflow'),
    ESPALIER_FUNCTION_PREFIX: ['operations', 'itself', 'announce'].some(word =>
      reach.some(each => each === word),
    ),
    // The gate, which every operation passes, opens settings; notices are signed with sealed secrets.
    ESPALIER_SETTINGS_KEYS:
      reach.includes('floor') ||
      reach.includes('settings') ||
      reach.includes('manage-llm-configurations') ||
      tells(reach),
    // Sign-in seals what it gives to browsers with a key derived from these.
    ESPALIER_LINK_KEYS: reach.includes('links') || reach.includes('sign-in'),
    // Whoever takes sessions compares where a write comes from; the reference, which reaches nothing,
    // says where the API is.
    ESPALIER_PUBLIC_URL:
      reach.includes('links') ||
      takesCallers(reach) ||
      reach.includes('notify') ||
      reach.length === 0,
    // What operations fetch with is told which hosts inside they may reach, and so is what asks
    // models of other people's choice, and what takes or asks webhooks.
    ESPALIER_FETCH_ALLOW: reach.includes('floor') || reach.includes('models') || tells(reach),
    ESPALIER_EMAIL_SENDER: tells(reach),
    ESPALIER_OIDC_ISSUER: reach.includes('sign-in') || reach.includes('admit'),
    ESPALIER_OIDC_CLIENT_ID: reach.includes('sign-in'),
    ESPALIER_OIDC_CLIENT_SECRET: reach.includes('sign-in'),
    ESPALIER_OIDC_SCOPE: reach.includes('sign-in'),
    ESPALIER_OIDC_ALLOW: reach.includes('sign-in'),
    ESPALIER_CLAIM_SECRET: reach.includes('claim'),
    ESPALIER_RATE_LIMITS: takesCallers(reach) || reach.includes('admit'),
    // Whoever counts strangers by their address is told it by the Router.
    ESPALIER_ROUTER_SECRET: ['sign-in', 'admit', 'claim'].some(word =>
      reach.some(each => each === word),
    ),
    ESPALIER_LOG_LEVEL: true,
    // Notices name the traces of what they tell in their lines of the log; spans are sent by others.
    OTEL_EXPORTER_OTLP_ENDPOINT: traces(reach) || reach.includes('notify'),
    OTEL_EXPORTER_OTLP_HEADERS: traces(reach),
  }
  return (Object.keys(needs) as Variable[]).filter(name => needs[name])
}

const tells = (reach: FunctionSpec['reach']): boolean =>
  reach.includes('notify') || reach.includes('manage-subscriptions')

/** Whoever runs calls, or moves tasks on or ends them, tells of it where tracing is on. */
const traces = (reach: FunctionSpec['reach']): boolean =>
  reach.includes('floor') || reach.includes('workflow')

const takesCallers = (reach: FunctionSpec['reach']): boolean =>
  ['floor', 'principals', 'sign-in'].some(word => reach.some(each => each === word))
