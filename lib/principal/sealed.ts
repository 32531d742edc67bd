import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { currentKey, keyOf } from '../settings/keyring.ts'

const ALGORITHM = 'aes-256-gcm'
/** NIST SP 800-38D: 96 bits, by chance, and a tag of 128. */
const IV_BYTES = 12
const TAG_BYTES = 16

/** Text that a browser keeps for us, and can neither read nor change. */
export const seal = (text: string): string => {
  const { version, key } = currentKey('sign-in')
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, iv)
  const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final()])
  return `${version}.${Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')}`
}

/** What was sealed, or undefined for anything else. */
export const unseal = (sealed: string): string | undefined => {
  const [version = '', body = ''] = sealed.split('.')
  const key = keyOf('sign-in', version)
  const bytes = Buffer.from(body, 'base64url')
  if (!key || bytes.length < IV_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    // Another key's, or changed on its way: it says nothing.
    return undefined
  }
}
