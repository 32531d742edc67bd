import { createHash, randomBytes, randomFillSync } from 'node:crypto'
import { ulid } from 'ulid'
import * as z from 'zod'

/** The kinds of record that have an id; an id reads `<kind>_<ULID>`. */
export const ID_KINDS = [
  'user',
  'group',
  'key',
  'agent',
  'task',
  'call',
  'media',
  'audit',
  'session',
  'invitation',
  'llm',
  'subscription',
  'delivery',
] as const

export type IdKind = (typeof ID_KINDS)[number]
export type Id<Kind extends IdKind> = `${Kind}_${string}`

/** The schema of one kind's ids: an agent's id where a task's is wanted does not compile. */
export const idOf = <Kind extends IdKind>(kind: Kind) =>
  z.templateLiteral([`${kind}_`, z.ulid()]) as unknown as z.ZodType<Id<Kind>, Id<Kind>>

/** A new id; ids of one kind sort by the time of their making. */
export const newId = <Kind extends IdKind>(kind: Kind, time: number = Date.now()): Id<Kind> =>
  `${kind}_${ulid(time, randomFraction)}`

/** ULIDs ask for one character's randomness at a time, and asking the system costs most of it. */
const pool = new Uint8Array(512)
let drawn = pool.length
const randomFraction = (): number => {
  if (drawn === pool.length) {
    randomFillSync(pool)
    drawn = 0
  }
  return (pool[drawn++] ?? 0) / 256
}

/**
 * The id that always follows from the same parts, for records that must not exist twice:
 * whoever makes the record again finds its id taken. Derived ids don't sort by time.
 */
export const derivedId = <Kind extends IdKind>(
  kind: Kind,
  ...parts: (string | number)[]
): Id<Kind> => `${kind}_${crockford(digest(parts))}`

/** The kind that an id's text names, or undefined where it is none of ours. */
export const kindOf = (id: string): IdKind | undefined =>
  ID_KINDS.find(kind => id.startsWith(`${kind}_`))

/** A value that no other claim has: what a conditional write leaves behind to know itself by. */
export const newNonce = (): string => randomBytes(12).toString('base64url')

/** JSON.stringify keeps parts apart that a plain join would run together. */
const digest = (parts: (string | number)[]): Buffer =>
  createHash('sha256').update(JSON.stringify(parts)).digest()

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ULID_LENGTH = 26

/** The first 128 bits as a ULID's 26 characters, of which the first holds only three bits. */
const crockford = (bytes: Buffer): string => {
  let rest = BigInt(`0x${bytes.subarray(0, 16).toString('hex')}`)
  let text = ''
  for (let position = 0; position < ULID_LENGTH; position++) {
    text = ALPHABET.charAt(Number(rest & 31n)) + text
    rest >>= 5n
  }
  return text
}
