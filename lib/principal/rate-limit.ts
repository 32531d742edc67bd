import * as z from 'zod'
import { type Clock, systemClock } from '../core/clock.ts'
import { optionalConfig, variableOf } from '../core/config.ts'
import { AppError } from '../core/errors.ts'
import { errorFields, log } from '../core/log.ts'
import * as table from '../data/table.ts'
import type { Caller } from './caller.ts'
import { hashOf } from './secret.ts'

/**
 * How many requests a minute each may make, and how many of them a process counts by itself before
 * it adds them to the table and reads what all have made together. So P processes let through at
 * most `perMinute + P × (syncEvery - 1)`, and refuse nothing before `perMinute`.
 */
export const RATE_LIMITS = {
  /** A key, or a session. */
  key: { perMinute: 1_200, syncEvery: 50 },
  /** Those who have proved nothing yet (sign-in, claim, invitations), by the address they come from. */
  address: { perMinute: 20, syncEvery: 10 },
  /** All of those together. */
  everyone: { perMinute: 300, syncEvery: 25 },
  /** Someone's tests of models, with whatever key: each is a request that somebody pays for. */
  model: { perMinute: 10, syncEvery: 1 },
  /** Someone's tests of subscriptions, with whatever key: each is a request to an address of choice. */
  notice: { perMinute: 10, syncEvery: 1 },
} as const
export type RateLimitKind = keyof typeof RATE_LIMITS

export const WINDOW_MS = 60_000
/** Counts that a process keeps at most; the oldest go first, and count again from nothing. */
export const MAX_TRACKED = 10_000
/** How long a count is of use to nobody any more, in seconds. */
const KEPT_SECONDS = 600

/** Adds to what all have made in a window, and tells their sum. */
export type Synchronise = (subject: string, window: number, count: number) => Promise<number>

type Count = { total: number; own: number }

/** Counts requests in memory, and every so often in common with all other processes. */
export const createLimiter = (synchronise: Synchronise) => {
  let window = 0
  const counts = new Map<string, Count>()

  const countOf = (subject: string, clock: Clock): Count => {
    const now = Math.floor(clock.now().getTime() / WINDOW_MS)
    if (now !== window) counts.clear()
    window = now
    const known = counts.get(subject)
    if (known) return known
    const [oldest] = counts.keys()
    if (counts.size >= MAX_TRACKED && oldest !== undefined) counts.delete(oldest)
    const count = { total: 0, own: 0 }
    counts.set(subject, count)
    return count
  }

  return {
    /** Whether a subject has had its share of this minute, as far as this process knows. */
    isSpent: (subject: string, perMinute: number, clock: Clock): boolean => {
      const { total, own } = countOf(subject, clock)
      return total + own >= perMinute
    },

    /** Counts one request; false where it is one too many. */
    take: async (
      subject: string,
      { perMinute, syncEvery }: { perMinute: number; syncEvery: number },
      clock: Clock,
    ): Promise<boolean> => {
      const count = countOf(subject, clock)
      if (count.total + count.own >= perMinute) return false
      count.own += 1
      if (count.own < syncEvery) return true
      const { own } = count
      // Ours at once: requests that come meanwhile see it.
      count.total += own
      count.own = 0
      try {
        count.total = Math.max(count.total, await synchronise(subject, window, own))
      } catch (error) {
        // What only counts must not stop what works: this process goes on by its own count.
        log('warn', 'rate-limit-not-synchronised', errorFields(error))
      }
      return count.total <= perMinute
    },
  }
}

const Counter = z.object({ count: z.int() })

// Access patterns: how many requests a subject has made in a minute.
const inTable: Synchronise = async (subject, window, count) => {
  const start = window * WINDOW_MS
  const outcome = await table.update(
    Counter,
    { pk: `rate#${subject}`, sk: new Date(start).toISOString() },
    { add: { count }, set: { ttl: start / 1_000 + KEPT_SECONDS } },
    { create: true },
  )
  return outcome.item?.count ?? count
}

const limiter = createLimiter(inTable)

/** Counts a request of a caller's, or TOO_MANY_REQUESTS; most cost the table nothing. */
export const limitCaller = (
  { keyId }: Pick<Caller, 'keyId'>,
  clock: Clock = systemClock,
): Promise<void> => limit('key', keyId, clock)

/** Counts a test of a model, beside the request that asks for it. */
export const limitModelTests = (
  { id }: Pick<Caller, 'id'>,
  clock: Clock = systemClock,
): Promise<void> => limit('model', `model#${id}`, clock)

/** Counts a test of a subscription, beside the request that asks for it. */
export const limitNoticeTests = (
  { id }: Pick<Caller, 'id'>,
  clock: Clock = systemClock,
): Promise<void> => limit('notice', `notice#${id}`, clock)

/** Counts a request of someone who has proved nothing, by address and altogether. */
export const limitStranger = async (address: string, clock: Clock = systemClock): Promise<void> => {
  const everyone = limitsOf('everyone')
  if (everyone && limiter.isSpent('everyone', everyone.perMinute, clock)) throw tooMany(clock)
  await limit('address', `address#${hashOf(address)}`, clock)
  await limit('everyone', 'everyone', clock)
}

const limit = async (kind: RateLimitKind, subject: string, clock: Clock): Promise<void> => {
  const limits = limitsOf(kind)
  if (!limits || (await limiter.take(subject, limits, clock))) return
  throw tooMany(clock)
}

const tooMany = (clock: Clock): AppError => {
  const seconds = Math.ceil((WINDOW_MS - (clock.now().getTime() % WINDOW_MS)) / 1_000)
  return new AppError(
    'TOO_MANY_REQUESTS',
    `That is more requests than a minute has room for. Try again in ${seconds} seconds.`,
    { details: { retry_after_seconds: seconds } },
  )
}

type Limits = { perMinute: number; syncEvery: number }

/** A kind's limits, or undefined where configuration has turned it off. */
export const limitsOf = (kind: RateLimitKind): Limits | undefined => {
  const { perMinute: usual, syncEvery } = RATE_LIMITS[kind]
  const perMinute = overrides()[kind] ?? usual
  if (perMinute === 'off') return undefined
  // A small limit is met to the point by one process alone.
  return { perMinute, syncEvery: Math.min(syncEvery, Math.ceil(perMinute / 2)) }
}

type Overrides = Partial<Record<RateLimitKind, number | 'off'>>
let known: { text: string; overrides: Overrides } = { text: '', overrides: {} }

const overrides = (): Overrides => {
  const text = optionalConfig('rateLimits')?.trim() ?? ''
  if (text === '') return {}
  if (known.text !== text) known = { text, overrides: readOverrides(text) }
  return known.overrides
}

const OVERRIDE = /^(key|address|everyone|model|notice)=([1-9]\d{0,8}|off)$/

const readOverrides = (text: string): Overrides =>
  Object.fromEntries(
    text.split(',').map(entry => {
      const [, kind = '', value = ''] = OVERRIDE.exec(entry.trim()) ?? []
      if (kind === '')
        throw new AppError(
          'NOT_CONFIGURED',
          `${variableOf('rateLimits')} must hold pairs such as "key=600, address=off", separated by commas: key, address, everyone, model or notice, with requests a minute or "off".`,
        )
      return [kind, value === 'off' ? value : Number(value)]
    }),
  )
