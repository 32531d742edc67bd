import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { inject } from 'vitest'
import type { Request, Synthesis } from './synth/synthesis.ts'
import { synthesize } from './synth/synthesize.ts'

const keyOf = (byte: number) => `v1:${Buffer.alloc(32, byte).toString('base64')}`

export const SECRETS = {
  SettingsKeys: keyOf(1),
  LinkKeys: keyOf(2),
  ClaimSecret: 'a-claim-secret-of-forty-characters-or-so',
  OidcClientSecret: 'an-oidc-client-secret',
  OpenaiApiKey: 'sk-an-openai-key',
  AnthropicApiKey: 'sk-an-anthropic-key',
}

/** A deploy that uses everything there is to set. */
export const ENVIRONMENT = {
  ESPALIER_EMAIL_SENDER: 'notices@example.com',
  ESPALIER_OIDC_ISSUER: 'https://id.example.com',
  ESPALIER_OIDC_CLIENT_ID: 'espalier',
  ESPALIER_OIDC_ALLOW: 'email=ada@example.com',
  ESPALIER_RATE_LIMITS: 'key=600',
  ESPALIER_FETCH_ALLOW: 'wiki.example.com',
}

const REQUESTS = {
  /** As it is first deployed for others to use. */
  production: {
    stage: 'production',
    secrets: SECRETS,
    environment: ENVIRONMENT,
    builds: 'given',
  },
  /** What somebody deploys for themselves, with as little as there may be. */
  personal: {
    stage: 'ada',
    secrets: { SettingsKeys: SECRETS.SettingsKeys, LinkKeys: SECRETS.LinkKeys },
  },
  dev: { stage: 'ada', secrets: SECRETS, dev: true },
} satisfies Record<string, Pick<Request, 'stage'> & Partial<Request>>

export type Stage = keyof typeof REQUESTS

/** A stage's synthesis, made once in a run of all test files. */
export const synthesisOf = async (stage: Stage): Promise<Synthesis> => {
  const file = path.join(inject('syntheses'), `${stage}.json`)
  if (!existsSync(file)) writeFileSync(file, JSON.stringify(await synthesize(REQUESTS[stage])))
  return JSON.parse(readFileSync(file, 'utf8')) as Synthesis
}

/** How long logs are kept, and whether the table can go back in time. */
export const EXPECTED = {
  production: { logDays: 30, recovers: true },
  personal: { logDays: 7, recovers: false },
} satisfies Partial<Record<Stage, { logDays: number; recovers: boolean }>>
