import { hkdfSync } from 'node:crypto'
import { config } from '../core/config.ts'
import { AppError } from '../core/errors.ts'

/** What a key is derived for: a key of one purpose is useless for another. */
export type Purpose = 'settings-encryption' | 'settings-fingerprint' | 'public-link'

const KEY_BYTES = 32

/** The current key of a purpose, and its version's name, which goes with what it encrypted. */
export const currentKey = (purpose: Purpose): { version: string; key: Buffer } => {
  const [version] = masterKeys().keys()
  if (version === undefined) throw badMasterKeys()
  return { version, key: keyOf(purpose, version) ?? Buffer.alloc(0) }
}

/** The key of a purpose in one version, or undefined where that version is gone. */
export const keyOf = (purpose: Purpose, version: string): Buffer | undefined => {
  const master = masterKeys().get(version)
  return master && Buffer.from(hkdfSync('sha256', master, '', `espalier/${purpose}`, KEY_BYTES))
}

/**
 * A key that outlives rotation: of the oldest version still configured. Fingerprints and public
 * links made with it stay the same when a newer version is put in front.
 */
export const lastingKey = (purpose: Purpose): Buffer => {
  const oldest = [...masterKeys().keys()].at(-1)
  const key = oldest === undefined ? undefined : keyOf(purpose, oldest)
  if (!key) throw badMasterKeys()
  return key
}

/** Master keys by version, the current one first. */
const masterKeys = (): Map<string, Buffer> => {
  const entries = config('masterKeys')
    .split(',')
    .map(entry => entry.trim().split(':'))
  const keys = new Map(
    entries.map(([version = '', key = '']) => [version, Buffer.from(key, 'base64')]),
  )
  for (const [version, key] of keys)
    if (!/^[a-z0-9]{1,16}$/.test(version) || key.length !== KEY_BYTES) throw badMasterKeys()
  return keys
}

const badMasterKeys = () =>
  new AppError(
    'NOT_CONFIGURED',
    `ESPALIER_MASTER_KEYS must hold "version:base64" pairs of ${KEY_BYTES} bytes each, separated by commas.`,
  )
