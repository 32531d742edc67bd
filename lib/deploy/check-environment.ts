import * as z from 'zod'
import { LOG_LEVELS } from '../core/log.ts'
import { isAllowed } from '../principal/allowed.ts'
import { issuerUrl } from '../principal/provider.ts'
import { limitsOf } from '../principal/rate-limit.ts'
import { urlOf } from '../trace/send.ts'
import { allowedHosts } from '../web/allowed.ts'
import { readAlarmOptions } from './alarm-options.ts'
import { readDomain } from './domain.ts'
import { messageOf, refuseProblems } from './refuse.ts'
import { tagsOf } from './tags.ts'

/**
 * Refuses variables of a deploy's environment that some function would refuse later, by the parsers
 * that they are read with: INVALID_DEFINITION says all that is wrong. What a variable holds is read
 * from `process.env`, as functions read it.
 */
export const checkEnvironment = (app: { name: string; stage: string }): void => {
  const { env } = process
  const isSet = (name: string) => (env[name] ?? '') !== ''
  const checks = [
    () => readDomain(env),
    () => readAlarmOptions(env, { isProduction: false }),
    () => tagsOf(app, env),
    () => limitsOf('key'),
    () => allowedHosts(),
    // Whoever it is, the rules are read first.
    () => isAllowed({}),
    () => isSet('ESPALIER_OIDC_ISSUER') && issuerUrl(),
    () => isSet('OTEL_EXPORTER_OTLP_ENDPOINT') && urlOf(env.OTEL_EXPORTER_OTLP_ENDPOINT ?? ''),
  ]
  const level = env.ESPALIER_LOG_LEVEL ?? ''
  const sender = env.ESPALIER_EMAIL_SENDER ?? ''
  const problems = [
    ...checks.flatMap(check => messageOf(check) ?? []),
    ...(isSet('ESPALIER_OIDC_ISSUER') && !isSet('ESPALIER_OIDC_CLIENT_ID')
      ? [
          'ESPALIER_OIDC_CLIENT_ID is not set: it is what the provider of ESPALIER_OIDC_ISSUER knows this deployment as.',
        ]
      : []),
    ...(isSet('ESPALIER_OIDC_ALLOW') && !isSet('ESPALIER_OIDC_ISSUER')
      ? ['ESPALIER_OIDC_ALLOW lets nobody in while ESPALIER_OIDC_ISSUER is not set.']
      : []),
    ...(sender !== '' && !z.email().safeParse(sender).success
      ? [
          `ESPALIER_EMAIL_SENDER is "${sender}"; it must be an address alone, such as notices@example.com.`,
        ]
      : []),
    ...(level !== '' && !LOG_LEVELS.some(known => known === level)
      ? [`ESPALIER_LOG_LEVEL is "${level}"; it must be one of ${LOG_LEVELS.join(', ')}.`]
      : []),
  ]
  refuseProblems('The environment of this deploy can’t be used', problems)
}
