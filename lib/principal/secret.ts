import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 bits, as base64url. */
const SECRET_BYTES = 32
export const SECRET_PATTERN = '[\\w-]{43}'

/** A text that nobody can guess. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url')

/** SHA-256 in hex: what is stored of a text that is full of chance and shown once. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Whether a text has this hash, in a time that doesn't tell how much of it is right. */
export const hasHash = (hash: string, text: string): boolean =>
  timingSafeEqual(Buffer.from(hash, 'hex'), Buffer.from(hashOf(text), 'hex'))

/** Whether two texts are the same, of whatever length, in a time that doesn't tell either. */
export const sameText = (one: string, other: string): boolean => hasHash(hashOf(one), other)
