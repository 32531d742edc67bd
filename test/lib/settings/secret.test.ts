import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { decrypt, encrypt, fingerprint } from '../../../lib/settings/secret.ts'

const keyOf = (version: string) => `${version}:${randomBytes(32).toString('base64')}`
const [first, second] = [keyOf('v1'), keyOf('v2')]
const place = { layer: 'agent_1', tool: 'mail', key: 'token' }

beforeEach(() => vi.stubEnv('ESPALIER_SETTINGS_KEYS', first))
afterEach(() => vi.unstubAllEnvs())

test('a secret opens at the place that it was sealed for', () => {
  const sealed = encrypt('pässword', place)
  expect(sealed).not.toContain('pässword')
  expect(decrypt(sealed, place)).toBe('pässword')
})

test('the same secret never has the same ciphertext', () => {
  expect(encrypt('x', place)).not.toBe(encrypt('x', place))
})

test.each([
  ['layer', { ...place, layer: 'agent_2' }],
  ['tool', { ...place, tool: 'other' }],
  ['key', { ...place, key: 'other' }],
  ['boundary between tool and key', { ...place, tool: 'mailto', key: 'ken' }],
])('moved to another %s, a ciphertext does not open', (_, other) => {
  expect(decrypt(encrypt('x', place), other)).toBeUndefined()
})

test('a ciphertext that was changed anywhere does not open', () => {
  const [version, text = ''] = encrypt('secret', place).split('.')
  const bytes = Buffer.from(text, 'base64url')
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(index) ^ 1, index)
    expect(decrypt(`${version}.${changed.toString('base64url')}`, place)).toBeUndefined()
  }
})

test.each(['', 'v1', 'v1.', 'v1.AAAA', '.', 'plain text'])('%j is no ciphertext', text => {
  expect(decrypt(text, place)).toBeUndefined()
})

test('after a rotation, old secrets still open and new ones name the new key', () => {
  const old = encrypt('old', place)
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', `${second},${first}`)
  expect(decrypt(old, place)).toBe('old')
  expect(old).toMatch(/^v1\./)
  expect(encrypt('new', place)).toMatch(/^v2\./)
})

test('once the old key is gone, what it sealed does not open', () => {
  const old = encrypt('old', place)
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', second)
  expect(decrypt(old, place)).toBeUndefined()
})

test('a fingerprint outlives a rotation, and tells values apart', () => {
  const before = fingerprint('settings')
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', `${second},${first}`)
  expect(fingerprint('settings')).toBe(before)
  expect(fingerprint('other settings')).not.toBe(before)
})

test('the lasting key is of the version of that name, which encrypts and opens nothing', () => {
  const before = fingerprint('settings')
  const old = encrypt('old', place)
  const lasting = first.replace('v1:', 'lasting:')
  for (const ring of [`${second},${lasting}`, `${lasting},${second}`]) {
    vi.stubEnv('ESPALIER_SETTINGS_KEYS', ring)
    expect(fingerprint('settings')).toBe(before)
    expect(encrypt('new', place)).toMatch(/^v2\./)
    expect(decrypt(old, place)).toBeUndefined()
    expect(decrypt(old.replace('v1.', 'lasting.'), place)).toBeUndefined()
  }
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', second)
  expect(fingerprint('settings')).not.toBe(before)
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', lasting)
  expect(() => encrypt('x', place)).toThrow('ESPALIER_SETTINGS_KEYS')
})

test.each(['', 'v1', 'v1:short', 'V1:' + first.slice(3), `${first},v2:AAAA`])(
  'the master keys %j are refused with what they must be',
  keys => {
    vi.stubEnv('ESPALIER_SETTINGS_KEYS', keys)
    expect(() => encrypt('x', place)).toThrow('ESPALIER_SETTINGS_KEYS')
  },
)
