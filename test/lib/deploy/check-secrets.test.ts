import { describe, expect, it } from 'vitest'
import { type CheckedSecrets, checkSecrets } from '../../../lib/deploy/check-secrets.ts'
import { MIN_CLAIM_CHARS } from '../../../lib/principal/claim.ts'
import { KEY_BYTES } from '../../../lib/settings/keyring.ts'

const ring = `v1:${Buffer.alloc(KEY_BYTES, 7).toString('base64')}`
const good: CheckedSecrets = { SettingsKeys: ring, LinkKeys: ring, ClaimSecret: '' }
const check = (secrets: Partial<CheckedSecrets>) => () =>
  checkSecrets({ ...good, ...secrets }, 'production')

describe('the secrets of a deploy', () => {
  it('are taken where functions take them, and nobody has to be the first admin', () => {
    expect(check({})).not.toThrow()
    expect(check({ SettingsKeys: `v2:${ring.slice(3)},${ring}` })).not.toThrow()
    expect(check({ ClaimSecret: 'c'.repeat(MIN_CLAIM_CHARS) })).not.toThrow()
  })

  it('are all named that are missing, each with the command that sets it', () => {
    const all = check({ SettingsKeys: '', LinkKeys: '' })
    for (const name of ['SettingsKeys', 'LinkKeys'])
      expect(all).toThrow(
        `- ${name} is not set: npx sst secret set --stage production ${name} "v1:$(openssl rand -base64 ${KEY_BYTES})"`,
      )
  })

  it.each([
    'secret-words',
    'v1:c2hvcnQ=',
    'V1:' + ring.slice(3),
    `${ring},`,
    `lasting:${ring.slice(3)}`,
  ])('are refused as "%s", which is not said', text => {
    for (const name of ['SettingsKeys', 'LinkKeys'] as const) {
      expect(check({ [name]: text })).toThrow(
        /(Settings|Link)Keys, which becomes ESPALIER_\w+_KEYS must hold "version:base64" pairs of 32 bytes/,
      )
      expect(check({ [name]: text })).not.toThrow(text)
    }
  })

  it('that make the first admin are long, and not said', () => {
    const short = 'c'.repeat(MIN_CLAIM_CHARS - 1)
    expect(check({ ClaimSecret: short })).toThrow(
      `ClaimSecret has fewer than ${MIN_CLAIM_CHARS} characters`,
    )
    expect(check({ ClaimSecret: short })).not.toThrow(short)
  })
})
