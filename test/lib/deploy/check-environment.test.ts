import { afterEach, describe, expect, it, vi } from 'vitest'
import { checkEnvironment } from '../../../lib/deploy/check-environment.ts'

const check = (variables: Record<string, string>) => () => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  checkEnvironment({ name: 'espalier', stage: 'production' })
}

afterEach(() => vi.unstubAllEnvs())

describe('the environment of a deploy', () => {
  it('may be empty, or have everything', () => {
    expect(check({})).not.toThrow()
    expect(
      check({
        ESPALIER_DOMAIN: 'tools.example.com',
        ESPALIER_ALARMS: 'on',
        ESPALIER_ALARM_EMAIL: 'operators@example.com',
        ESPALIER_TAGS: 'team=research',
        ESPALIER_RATE_LIMITS: 'key=600, address=off',
        ESPALIER_FETCH_ALLOW: 'wiki.example.org:8080',
        ESPALIER_OIDC_ISSUER: 'https://login.example.com',
        ESPALIER_OIDC_CLIENT_ID: 'espalier',
        ESPALIER_OIDC_ALLOW: 'email_domain=example.com',
        ESPALIER_EMAIL_SENDER: 'notices@example.com',
        ESPALIER_LOG_LEVEL: 'debug',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example.com',
      }),
    ).not.toThrow()
  })

  it.each([
    ['ESPALIER_DOMAIN', 'https://tools.example.com'],
    ['ESPALIER_DOMAIN_CERTIFICATE', 'arn:aws:acm:eu-west-1:123456789012:certificate/a'],
    ['ESPALIER_ALARMS', 'yes'],
    ['ESPALIER_ALARM_EMAIL', 'operators'],
    ['ESPALIER_TAGS', 'team'],
    ['ESPALIER_RATE_LIMITS', 'keys=600'],
    ['ESPALIER_FETCH_ALLOW', 'http://wiki.example.org/'],
    ['ESPALIER_OIDC_ISSUER', 'http://login.example.com'],
    ['ESPALIER_OIDC_ALLOW', 'everyone'],
    ['ESPALIER_EMAIL_SENDER', 'Espalier <notices@example.com>'],
    ['ESPALIER_LOG_LEVEL', 'verbose'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'otlp.example.com:4318'],
  ])('is refused where %s is "%s", which is named', (name, value) => {
    expect(check({ [name]: value })).toThrow(new RegExp(`can’t be used:\\n(.*\\n)*- ${name}`))
  })

  it('is told all that is wrong with it at once', () => {
    const both = check({ ESPALIER_TAGS: 'team', ESPALIER_RATE_LIMITS: 'many' })
    expect(both).toThrow('- ESPALIER_TAGS has "team"')
    expect(both).toThrow('- ESPALIER_RATE_LIMITS must hold pairs')
  })

  it('says whom a provider knows, and has one where people are let in by its word', () => {
    expect(check({ ESPALIER_OIDC_ISSUER: 'https://login.example.com' })).toThrow(
      '- ESPALIER_OIDC_CLIENT_ID is not set',
    )
    vi.unstubAllEnvs()
    expect(check({ ESPALIER_OIDC_ALLOW: 'email_domain=example.com' })).toThrow(
      'lets nobody in while ESPALIER_OIDC_ISSUER is not set',
    )
  })
})
