import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { currentKey, keyOf, lastingKey } from './keyring.ts'

/** The place that a secret belongs to: moved elsewhere, its ciphertext can't be opened. */
export type Place = { layer: string; tool: string; key: string }

const CIPHER = 'aes-256-gcm'
/** NIST SP 800-38D recommends 96 bits for GCM. */
const IV_BYTES = 12
const TAG_BYTES = 16

const SEALED = /^([a-z0-9]{1,16})\.[A-Za-z0-9_-]{38,}$/

/** The version of the key that a text says it was encrypted with, or undefined where it is none. */
export const versionOf = (text: string): string | undefined => SEALED.exec(text)?.[1]

/** Encrypts a secret for one place: `<key version>.<base64url of iv, tag and ciphertext>`. */
export const encrypt = (plain: string, place: Place): string => {
  const { version, key } = currentKey('settings-encryption')
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(bindingOf(place))
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  return `${version}.${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')}`
}

/** Opens what `encrypt` made for the same place, or undefined: a wrong key, place or text. */
export const decrypt = (sealed: string, place: Place): string | undefined => {
  const [version = '', text = ''] = sealed.split('.')
  const key = keyOf('settings-encryption', version)
  const bytes = Buffer.from(text, 'base64url')
  if (!key || bytes.length < IV_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES))
    .setAAD(bindingOf(place))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  try {
    const plain = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES))
    return Buffer.concat([plain, decipher.final()]).toString('utf8')
  } catch {
    // GCM says no more than that the tag doesn't fit; the caller names the place.
    return undefined
  }
}

/** A keyed digest that tells whether settings changed and lets nobody guess what they are. */
export const fingerprint = (text: string): string =>
  createHmac('sha256', lastingKey('settings-fingerprint')).update(text).digest('hex')

const bindingOf = ({ layer, tool, key }: Place): Buffer =>
  Buffer.from(JSON.stringify([layer, tool, key]))
