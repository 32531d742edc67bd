import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { config, variableOf } from '../core/config.ts'
import { AppError } from '../core/errors.ts'

/** What a key is derived for: a key of one purpose is useless for another. */
export type Purpose = 'settings-encryption' | 'settings-fingerprint' | 'public-link' | 'sign-in'

/**
 * Two rings of keys, so that the code of an operation, which opens its tool's settings, can't make
 * links to anyone's files.
 */
const RING = {
  'settings-encryption': 'settingsKeys',
  'settings-fingerprint': 'settingsKeys',
  'public-link': 'linkKeys',
  'sign-in': 'linkKeys',
} as const satisfies Record<Purpose, 'settingsKeys' | 'linkKeys'>

export const KEY_BYTES = 32
const VERSION = /^[a-z0-9]{1,16}$/
/**
 * What a version is named that encrypts nothing any more: `lastingKey` alone is made from it, and
 * stays the same after the version that it was is gone.
 */
export const LASTING = 'lasting'

/** The current key of a purpose, and its version's name, which goes with what it encrypted. */
export const currentKey = (purpose: Purpose): { version: string; key: KeyObject } => {
  const first = [...ringOf(purpose)].find(([version]) => version !== LASTING)
  if (!first) throw badRing(purpose)
  const [version, key] = first
  return { version, key }
}

/** The versions that open what they encrypted, the current one first. */
export const versionsOf = (purpose: Purpose): string[] =>
  [...ringOf(purpose).keys()].filter(version => version !== LASTING)

/** The key of a purpose in one version, or undefined where that version is gone. */
export const keyOf = (purpose: Purpose, version: string): KeyObject | undefined =>
  version === LASTING ? undefined : ringOf(purpose).get(version)

/**
 * A key that outlives rotation: of the version named `lasting`, or of the oldest one that is
 * configured. Fingerprints and public links made with it stay the same when a newer version is
 * put in front.
 */
export const lastingKey = (purpose: Purpose): KeyObject => {
  const ring = ringOf(purpose)
  const oldest = ring.get(LASTING) ?? [...ring.values()].at(-1)
  if (!oldest) throw badRing(purpose)
  return oldest
}

/** Refuses a text that is no ring of keys with one to encrypt with: NOT_CONFIGURED says what one is. */
export const checkRing = (text: string, purpose: Purpose): void => {
  const versions = [...readRing(text, purpose).keys()]
  if (versions.every(version => version === LASTING)) throw badRing(purpose)
}

type Ring = ReadonlyMap<string, KeyObject>

/** A purpose's derived keys by version, the current one first; deriving them takes its time. */
const ringOf = (purpose: Purpose): Ring => {
  const text = config(RING[purpose])
  const known = rings.get(purpose)
  if (known?.text === text) return known.ring
  const ring = readRing(text, purpose)
  rings.set(purpose, { text, ring })
  return ring
}

const rings = new Map<Purpose, { text: string; ring: Ring }>()

const readRing = (text: string, purpose: Purpose): Ring => {
  const entries = text.split(',').map(entry => entry.trim().split(':'))
  const masters = new Map(
    entries.map(([version = '', key = '']) => [version, Buffer.from(key, 'base64')]),
  )
  for (const [version, master] of masters)
    if (!VERSION.test(version) || master.length !== KEY_BYTES) throw badRing(purpose)
  return new Map([...masters].map(([version, master]) => [version, derive(master, purpose)]))
}

const derive = (master: Buffer, purpose: Purpose): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', master, '', `espalier/${purpose}`, KEY_BYTES)))

const badRing = (purpose: Purpose) =>
  new AppError(
    'NOT_CONFIGURED',
    `${variableOf(RING[purpose])} must hold "version:base64" pairs of ${KEY_BYTES} bytes each, separated by commas.`,
  )
