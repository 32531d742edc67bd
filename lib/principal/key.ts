import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { derivedId, type Id, idOf, newId } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { PrincipalId } from './principal.ts'

/** What a user's key may do beyond reading and running; off unless asked for. */
export const KEY_SCOPES = ['decide'] as const

export const ApiKey = z.object({
  id: idOf('key'),
  name: z.string(),
  /** Whom the key acts for: a user, or one agent. */
  subjectId: z.union([idOf('user'), idOf('agent')]),
  principalId: PrincipalId,
  scopes: z.array(z.enum(KEY_SCOPES)),
  /** SHA-256 of the key's whole text, which nobody can be shown again. */
  hash: z.string(),
  createdAt: z.iso.datetime(),
  createdBy: idOf('user').optional(),
  expiresAt: z.iso.datetime().optional(),
  revokedAt: z.iso.datetime().optional(),
})
export type ApiKey = z.infer<typeof ApiKey>

// Access patterns: one key by id; a principal's keys and an agent's, newest first.
export const keyKey = (id: Id<'key'>): table.Key => ({ pk: id, sk: 'key' })
const indexesOf = (key: ApiKey) => ({
  gsi1pk: `${key.principalId}#key`,
  gsi1sk: `${key.createdAt}#${key.id}`,
  ...(key.subjectId.startsWith('agent_')
    ? { gsi2pk: `${key.subjectId}#key`, gsi2sk: `${key.createdAt}#${key.id}` }
    : {}),
})

/** 256 bits, as base64url. */
const SECRET_BYTES = 32
const SECRET_CHARS = 43
const ULID = '[0-9A-HJKMNP-TV-Z]{26}'
const KEY_TEXT = new RegExp(
  `^esp_(?<key>${ULID})_(?<subject>[ua]${ULID})_(?<principal>[ug]${ULID})_[\\w-]{${SECRET_CHARS}}$`,
)
const KINDS = { u: 'user', a: 'agent', g: 'group' } as const

/**
 * What a key's text says of itself: which rows to read. It proves nothing: the stored hash does.
 * A text that isn't ours (an operator may choose the first key) only names its record.
 */
export type KeyClaim = {
  keyId: Id<'key'>
  subjectId?: ApiKey['subjectId']
  principalId?: PrincipalId
}

export const readClaim = (text: string): KeyClaim => {
  const groups = KEY_TEXT.exec(text)?.groups
  if (!groups) return { keyId: derivedId('key', text) }
  return {
    keyId: `key_${groups.key}`,
    subjectId: expand(groups.subject) as ApiKey['subjectId'],
    principalId: expand(groups.principal) as PrincipalId,
  }
}

/** Whether a text is this key's, and the key still counts. */
export const isValid = (key: ApiKey, text: string, clock: Clock = systemClock): boolean =>
  timingSafeEqual(Buffer.from(key.hash, 'hex'), hashOf(text)) &&
  key.revokedAt === undefined &&
  (key.expiresAt === undefined || key.expiresAt > isoNow(clock))

/**
 * Makes a key; its text is in the answer and nowhere else. A chosen text that has a key already
 * makes none, and gives that key as it stands; so does an id that is taken (`created` is false).
 */
export const createKey = async (
  owner: Pick<ApiKey, 'name' | 'subjectId' | 'principalId' | 'scopes' | 'expiresAt' | 'createdBy'>,
  {
    clock = systemClock,
    text: chosen,
    id: given = newId('key'),
    also = [],
  }: { clock?: Clock; text?: string; id?: Id<'key'>; also?: TransactionWrite[] } = {},
): Promise<{ key: ApiKey; text: string; created: boolean }> => {
  const id = chosen === undefined ? given : readClaim(chosen).keyId
  const text = chosen ?? textOf(id, owner)
  const key: ApiKey = {
    id,
    ...owner,
    hash: hashOf(text).toString('hex'),
    createdAt: isoNow(clock),
  }
  const outcome = await transact([
    { insert: key, key: keyKey(id), indexes: indexesOf(key) },
    ...also,
  ])
  if (outcome.ok) return { key, text, created: true }
  return { key: (await getKey(id)) ?? key, text, created: false }
}

export const getKey = (id: Id<'key'>) => table.get(ApiKey, keyKey(id))

/** All keys that a principal owns; there are few. */
export const listKeys = (principalId: PrincipalId): Promise<ApiKey[]> =>
  table.queryAll(ApiKey, { index: 'gsi1', pk: `${principalId}#key`, newestFirst: true })

/** One page of the keys that a principal owns, its agents' among them. */
export const pageKeys = (principalId: PrincipalId, page: { limit: number; cursor?: string }) =>
  table.query(ApiKey, { index: 'gsi1', pk: `${principalId}#key`, newestFirst: true, ...page })

export const pageAgentKeys = (agentId: Id<'agent'>, page: { limit: number; cursor?: string }) =>
  table.query(ApiKey, { index: 'gsi2', pk: `${agentId}#key`, newestFirst: true, ...page })

/** Revokes a key for good; revoking again changes nothing, and writes nothing. */
export const revokeKey = async (
  id: Id<'key'>,
  { clock = systemClock, also = [] }: { clock?: Clock; also?: TransactionWrite[] } = {},
): Promise<void> => {
  await transact([
    {
      key: keyKey(id),
      update: { set: { revokedAt: isoNow(clock) } },
      where: { revokedAt: is.absent },
    },
    ...also,
  ])
}

/** What gives a key to another principal: a part of the transaction that gives its agent away. */
export const keyTo = (principalId: PrincipalId, key: ApiKey): TransactionWrite => ({
  key: keyKey(key.id),
  update: { set: { principalId, ...indexesOf({ ...key, principalId }) } },
})

/** Forgets a key: the same text can be made a key again. */
export const deleteKey = (id: Id<'key'>) => table.remove(keyKey(id))

const textOf = (id: Id<'key'>, owner: Pick<ApiKey, 'subjectId' | 'principalId'>): string =>
  [
    'esp',
    id.slice('key_'.length),
    shorten(owner.subjectId),
    shorten(owner.principalId),
    randomBytes(SECRET_BYTES).toString('base64url'),
  ].join('_')

const shorten = (id: string): string => id.charAt(0) + id.slice(id.indexOf('_') + 1)

const expand = (short = ''): string =>
  `${KINDS[short.charAt(0) as keyof typeof KINDS]}_${short.slice(1)}`

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
