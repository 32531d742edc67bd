import { derivedId } from '../../lib/core/ids.ts'
import { DUE_SHARDS, dueShard } from '../../lib/data/due.ts'
import type { Run } from './run.ts'
import type { World } from './world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const MAX_ROOTS = 2
/** How much longer things go wrong once people have done what they do at random. */
const AFTERMATH_MS = 3 * MINUTE_MS
/** Runs in which nobody answers anything until all that can has expired. */
const ABSENT = 0.06
const ABSENCE_MS = 80 * HOUR_MS
/** By when all has to be over that people, machines and providers have no part in. */
const PATIENCE_MS = 4 * HOUR_MS
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
    const roots = random.int(1, MAX_ROOTS)
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

  const waitsOnPeople = (): boolean =>
    first('gsi2', ADMIN) !== undefined || watch.statuses().includes('AWAITING_INPUT')

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

  const isOver = (): boolean =>
    calmAt !== undefined &&
    busy === 0 &&
    functions.alive.size === 0 &&
    functions.undelivered() === 0 &&
    machine.running().length === 0 &&
    !waitsOnPeople() &&
    dueAt() === undefined

  const isTooLong = (): boolean => {
    const limit = PATIENCE_MS + (isAbsent ? ABSENCE_MS : 0)
    if (calmAt !== undefined && clock.now() > calmAt + limit) {
      run.violate(`it is not over after ${limit / HOUR_MS} hours in which all went well`)
      return true
    }
    if (scheduler.picked() <= MAX_EVENTS) return false
    run.violate(`it is not over after ${MAX_EVENTS} events`)
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
