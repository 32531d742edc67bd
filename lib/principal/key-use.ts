import * as z from 'zod'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'

/** How exactly it is kept when a key was last used: a write at most this often. */
export const KEY_USE_MINUTES = 5

export const KeyUse = z.object({ at: z.iso.datetime() })

// Access patterns: when one key was last used. Apart from the key: whoever may write that a key was
// used, as every operation does, can't write what the key is.
export const keyUseKey = (id: Id<'key'>): table.Key => ({ pk: `seen#${id}`, sk: 'seen' })

/** What a caller came with, and when that was last kept as used. */
type Used = { keyId: Id<'key'> | Id<'session'>; seenAt?: string }

/**
 * The write that keeps that a caller's key is used now; none where it is kept already that it was
 * minutes ago. A call's record takes it along, so that it is no request of its own.
 */
export const useWrites = (
  { keyId, seenAt }: Used,
  clock: Clock = systemClock,
): TransactionWrite[] => {
  const limit = isoIn(-KEY_USE_MINUTES * 60_000, clock)
  if (!isKey(keyId) || (seenAt !== undefined && seenAt > limit)) return []
  return [
    {
      key: keyUseKey(keyId),
      update: { set: { at: isoNow(clock) } },
      where: { any: [{ at: is.absent }, { at: is.atMost(limit) }] },
      create: true,
    },
  ]
}

/** Keeps that a caller's key is used now, where `useWrites` has something to write. */
export const keepUse = async (caller: Used, clock: Clock = systemClock): Promise<void> => {
  const writes = useWrites(caller, clock)
  // A write that fails met another's that keeps the same.
  if (writes.length > 0) await transact(writes)
}

/** When these keys were last used, to a few minutes; in one batched read. */
export const usesOf = async (ids: Id<'key'>[]): Promise<Map<string, string>> => {
  const found = await table.batchGet(ids.map(keyUseKey))
  return new Map(
    ids.flatMap(id => {
      const use = found.get(KeyUse, keyUseKey(id))
      return use ? [[id, use.at]] : []
    }),
  )
}

const isKey = (id: Used['keyId']): id is Id<'key'> => id.startsWith('key_')
