import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { type Id, idOf, newId } from '../core/ids.ts'
import * as table from '../data/table.ts'
import type { TransactionWrite } from '../data/transact.ts'

/** Whose log an entry is in: a principal's, or the instance's. */
export type AuditOwner = Id<'user'> | Id<'group'> | 'instance'

/** One change that someone made: who, when, of what, from what, to what. Secrets are `***`. */
export const AuditEntry = z.object({
  id: idOf('audit'),
  at: z.iso.datetime(),
  /** A user or an agent, and the key or the session that was used. */
  by: z.string(),
  keyId: z.union([idOf('key'), idOf('session')]).optional(),
  /** Noun and verb, past tense: `setting-changed`, `agent-deleted`. */
  action: z.string().regex(/^[a-z]+(-[a-z]+)+$/),
  /** What was changed: an agent's id, a tool's name, and the field within. */
  target: z.string(),
  field: z.string().optional(),
  from: z.json().optional(),
  to: z.json().optional(),
})
export type AuditEntry = z.infer<typeof AuditEntry>

/** Who makes a change, and with which key: a caller, or what acts for one. */
export type Author = { by: string; keyId?: AuditEntry['keyId']; clock?: Clock }

// Access patterns: an owner's entries, newest first. The key sorts by time; entries are never
// changed.
const keyOf = (owner: AuditOwner, { at, id }: AuditEntry): table.Key => ({
  pk: `audit#${owner}`,
  sk: `${at}#${id}`,
})

/** An entry as a part of the transaction that makes the change: neither is there without the other. */
export const auditWrite = (
  owner: AuditOwner,
  entry: Omit<AuditEntry, 'id' | 'at'>,
  clock: Clock = systemClock,
): TransactionWrite => {
  const whole: AuditEntry = {
    id: newId('audit', clock.now().getTime()),
    at: isoNow(clock),
    ...entry,
  }
  return { insert: whole, key: keyOf(owner, whole) }
}

/** Reads of the table for one page at most, where only some entries are asked for. */
const MAX_READS = 10

/**
 * A page of an owner's log, the newest first; of entries with a target it may be short, and goes on
 * at its cursor.
 */
export const listAudit = async (
  owner: AuditOwner,
  { limit, cursor, target }: { limit: number; cursor?: string; target?: string },
): Promise<table.Page<AuditEntry>> => {
  const items: AuditEntry[] = []
  let next = cursor
  // A read takes no more than has a place: what it passes over is never asked for again.
  for (let reads = 0; reads < MAX_READS && items.length < limit; reads++) {
    const page = await table.query(AuditEntry, {
      pk: `audit#${owner}`,
      newestFirst: true,
      limit: limit - items.length,
      ...(next === undefined ? {} : { cursor: next }),
    })
    items.push(...page.items.filter(entry => target === undefined || entry.target === target))
    next = page.cursor
    if (next === undefined) break
  }
  return { items, ...(next === undefined ? {} : { cursor: next }) }
}
