import { derivedId } from '../../lib/core/ids.ts'
import { DUE_SHARDS, dueShard } from '../../lib/data/due.ts'
import { TERMINAL } from '../../lib/task/task.ts'
import { MAX_WAIT_SECONDS } from '../../lib/workflow/definition.ts'
import type { Run } from './run.ts'
import type { World } from './world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Runs with two trees of tasks. */
const TWO_ROOTS = 0.25
/** How much longer things go wrong once people have done what they do at random. */
const AFTERMATH_MS = 3 * MINUTE_MS
/** Runs in which nobody answers anything until all that can has expired. */
const ABSENT = 0.06
const ABSENCE_MS = 80 * HOUR_MS
/** By when all has to be over that people, machines and providers have no part in. */
const PATIENCE_MS = 4 * HOUR_MS
/**
 * An execution that another one has replaced may wait on with a token that nobody knows any more: for
 * a day, at no cost, until the token's time is over.
 */
const FORGOTTEN_MS = MAX_WAIT_SECONDS * 1_000 + HOUR_MS
/** Between two looks of people at what waits for them. */
const TIDY_MS = 30_000
/** Things that happen in a run; one that takes more goes round in circles. */
const MAX_EVENTS = 30_000

const ADMIN = derivedId('user', 'first-admin')

/**
 * What a run goes through: people start tasks and interfere while things go wrong; then nothing
 * goes wrong any more, people answer whatever is asked, and all has to come to its end.
 */
export const createPhases = (run: Run, { schedules }: World) => {
  const { clock, functions, machine, mishaps, people, random, scheduler, trace, watch } = run
  let nextSweepAt = clock.now() + MINUTE_MS
  let calmAt: number | undefined
  let busy = 0
  let nextTidyAt = 0
  const isAbsent = random.chance(ABSENT)

  const humans = (work: () => Promise<unknown>): void => {
    busy += 1
    run.background(async () => {
      await work()
      busy -= 1
    })
  }

  humans(async () => {
    const roots = random.chance(TWO_ROOTS) ? 2 : 1
    for (let root = 0; root < roots; root++) await people.create()
    await people.disturb()
    await clock.sleep(random.around(AFTERMATH_MS))
    mishaps.stop()
    calmAt = clock.now()
    trace.add(undefined, 'FROM HERE ON ALL GOES WELL')
  })

  const first = (index: string, pk: string): Record<string, { S: string }> | undefined => {
    const { Items } = run.table.perform('QueryCommand', {
      TableName: process.env.ESPALIER_TABLE,
      IndexName: index,
      KeyConditionExpression: '#pk = :pk',
      ExpressionAttributeNames: { '#pk': `${index}pk` },
      ExpressionAttributeValues: { ':pk': { S: pk } },
      Limit: 1,
    }) as { Items?: Record<string, { S: string }>[] }
    return Items?.[0]
  }

  /** When the sweeper has something to look after, if it ever has. */
  const dueAt = (): number | undefined => {
    const times = Array.from({ length: DUE_SHARDS }, (_, shard) => first('gsi3', dueShard(shard)))
      .flatMap(item => item?.gsi3sk?.S.split('#')[0] ?? [])
      .map(at => Date.parse(at))
    return times.length === 0 ? undefined : Math.min(...times)
  }

  const waitsOnPeople = (): boolean => first('gsi2', ADMIN) !== undefined

  /** The schedule, as far as a sweep would find anything: one that finds nothing changes nothing. */
  const sweepIfDue = (): boolean => {
    if (clock.now() < nextSweepAt) return false
    nextSweepAt = (Math.floor(clock.now() / MINUTE_MS) + 1) * MINUTE_MS
    const due = dueAt()
    if (due === undefined || due > clock.now()) return false
    for (const { functionName } of schedules)
      run.background(async () => void (await functions.invoke(functionName, {})))
    return true
  }

  const tidyIfAsked = (): number | undefined => {
    if (calmAt === undefined || busy > 0 || !waitsOnPeople()) return undefined
    const at = Math.max(nextTidyAt, isAbsent ? calmAt + ABSENCE_MS : 0)
    if (clock.now() < at) return at
    nextTidyAt = clock.now() + TIDY_MS
    humans(people.tidy)
    return clock.now()
  }

  /** Every task has ended, and nobody has anything left to do with any. */
  const isSettled = (): boolean =>
    busy === 0 &&
    functions.alive.size === 0 &&
    functions.undelivered() === 0 &&
    watch.statuses().every(status => TERMINAL.includes(status)) &&
    !waitsOnPeople() &&
    dueAt() === undefined

  const isOver = (): boolean =>
    calmAt !== undefined && machine.running().length === 0 && isSettled()

  const isTooLong = (): boolean => {
    if (scheduler.picked() > MAX_EVENTS) {
      run.violate(`it is not over after ${MAX_EVENTS} events`)
      return true
    }
    if (calmAt === undefined) return false
    const limit = PATIENCE_MS + (isAbsent ? ABSENCE_MS : 0)
    const isLate = clock.now() > calmAt + limit
    if (isLate && !isSettled())
      run.violate(`it is not over after ${limit / HOUR_MS} hours in which all went well`)
    else if (clock.now() > calmAt + limit + FORGOTTEN_MS)
      run.violate('an execution goes on for longer than any wait may take')
    else return false
    return true
  }

  return {
    /** Asked before time moves to `next`: how far it may, or that all is over. */
    idle: (next: number | undefined): number | 'over' | undefined => {
      if (isTooLong() || isOver()) return 'over'
      const tidyAt = tidyIfAsked()
      if (sweepIfDue()) return clock.now()
      const times = [next, tidyAt].filter(time => time !== undefined)
      const soonest = times.length === 0 ? undefined : Math.min(...times)
      if (soonest !== undefined && soonest <= nextSweepAt) return soonest
      const due = dueAt()
      if (due !== undefined) times.push(Math.max(nextSweepAt, due))
      return times.length === 0 ? undefined : Math.min(...times)
    },
  }
}
