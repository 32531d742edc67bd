import * as z from 'zod'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { type Id, newNonce } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import type { PrincipalId } from '../principal/principal.ts'

/**
 * How many may watch at a time: one task, for one principal (a user with all of their keys, or an
 * agent's owner), and in the whole installation. Each watcher is a function that runs and reads.
 */
export const MAX_WATCHERS = { task: 25, principal: 25, all: 200 } as const
type Scope = keyof typeof MAX_WATCHERS

/**
 * How long a seat is held by who doesn't give it back, in seconds: nothing that watches runs for
 * longer, so that a seat needs no renewing, and one whose function died is free again by then.
 */
export const SEAT_SECONDS = 75

/** How often a seat is looked for while others take those that were just seen free. */
const ATTEMPTS = 5

const Seat = z.object({ seat: z.int(), until: z.iso.datetime() })
type Seat = z.infer<typeof Seat>

/** A watcher's seats, one in each of the three halls. */
export type Seats = { holder: string; keys: table.Key[] }

// Access patterns: who watches one task, whom one principal lets watch, and who watches at all. Each
// seat is an item of its own, so that nobody counts, and no item is written by all.
const seatKey = (hall: string, seat: number): table.Key => ({
  pk: `watchers#${hall}`,
  sk: `seat#${String(seat).padStart(3, '0')}`,
})

/**
 * Takes seats for one more watcher of a task, all or none: three queries and one transaction.
 * TOO_MANY_REQUESTS where every seat of a hall is taken, with the seconds until the next is free at
 * the latest.
 */
export const takeSeats = async (
  { taskId, principalId }: { taskId: Id<'task'>; principalId: PrincipalId },
  clock: Clock = systemClock,
): Promise<Seats> => {
  const halls: Record<Scope, string> = { task: taskId, principal: principalId, all: 'all' }
  const scopes = Object.keys(halls) as Scope[]
  const holder = newNonce()
  for (let attempt = 1; ; attempt++) {
    const keys = await Promise.all(scopes.map(scope => freeSeat(scope, halls[scope], clock)))
    const outcome = await transact(keys.map(key => seating(key, holder, clock)))
    if (outcome.ok) return { holder, keys }
    if (attempt === ATTEMPTS) throw tooMany('all', 1)
  }
}

/** Gives seats back; one that has passed to somebody else stays theirs. */
export const leaveSeats = async ({ holder, keys }: Seats): Promise<void> => {
  await transact(keys.map(key => ({ remove: key, where: { holder } })))
}

/** Any of the free seats: those who look at the same time seldom choose the same. */
const freeSeat = async (scope: Scope, hall: string, clock: Clock): Promise<table.Key> => {
  const now = isoNow(clock)
  const rows = await table.queryAll(Seat, { pk: seatKey(hall, 0).pk })
  const taken = rows.filter(({ until }) => until > now)
  const numbers = new Set(taken.map(({ seat }) => seat))
  const free = Array.from({ length: MAX_WATCHERS[scope] }, (_, seat) => seat).filter(
    seat => !numbers.has(seat),
  )
  const seat = free[Math.floor(Math.random() * free.length)]
  if (seat === undefined) throw tooMany(scope, secondsToFirst(taken, clock))
  return seatKey(hall, seat)
}

const seating = (key: table.Key, holder: string, clock: Clock): TransactionWrite => {
  const now = clock.now().getTime()
  const row: Seat = {
    seat: Number(key.sk.split('#')[1]),
    until: isoIn(SEAT_SECONDS * 1_000, clock),
  }
  return {
    key,
    update: { set: { ...row, holder, ttl: Math.ceil(now / 1_000) + SEAT_SECONDS } },
    where: { any: [{ until: is.absent }, { until: is.atMost(isoNow(clock)) }] },
    create: true,
  }
}

const secondsToFirst = (taken: Seat[], clock: Clock): number => {
  const first = Math.min(...taken.map(({ until }) => Date.parse(until)))
  return Math.max(1, Math.ceil((first - clock.now().getTime()) / 1_000))
}

const WORDS: Record<Scope, string> = {
  task: `A task is watched by ${MAX_WATCHERS.task} at a time.`,
  principal: `A principal has ${MAX_WATCHERS.principal} watchers at a time.`,
  all: 'There are as many watchers as this installation has room for.',
}

const tooMany = (scope: Scope, seconds: number): AppError =>
  new AppError(
    'TOO_MANY_REQUESTS',
    `${WORDS[scope]} Close what nobody looks at, or try again in ${seconds} seconds.`,
    { details: { retry_after_seconds: seconds } },
  )
