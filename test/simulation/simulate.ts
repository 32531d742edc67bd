import { replaceGlobals } from './globals.ts'
import type { Mishap } from './mishaps.ts'
import type { Reached } from './reached.ts'
import { playSeed, type RunResult } from './run.ts'
import { createWorld, type World } from './world.ts'

/** What came of one seed, short enough to be passed on by the thousand. */
export type SeedReport = Omit<RunResult, 'trace'> & { isRepeatable?: boolean }

/** What came of many. */
export type Report = {
  seeds: number
  commands: number
  events: number
  /** Seeds that were played twice, and whose every event was the same. */
  replayed: number
  mishaps: Partial<Record<Mishap, number>>
  reached: Reached
  violations: { seed: number; what: string[] }[]
  seconds: number
}

let world: Promise<World> | undefined

/** Plays one seed in this process; the world is made with the first. */
export const play = async (seed: number): Promise<RunResult> => {
  world ??= makeWorld()
  return playSeed(await world, seed)
}

const makeWorld = (): Promise<World> => {
  replaceGlobals()
  return createWorld()
}

/** Plays a seed, and once more where asked, to see that nothing but the seed decides. */
export const report = async (seed: number, isTwice: boolean): Promise<SeedReport> => {
  const { trace: _, ...first } = await play(seed)
  if (!isTwice) return first
  const isRepeatable = (await play(seed)).hash === first.hash
  if (isRepeatable) return { ...first, isRepeatable }
  const violations = [...first.violations, 'played again, it went another way']
  return { ...first, violations, isRepeatable }
}

export const emptyReport = (): Report => ({
  seeds: 0,
  commands: 0,
  events: 0,
  replayed: 0,
  mishaps: {},
  reached: {},
  violations: [],
  seconds: 0,
})

export const add = (sum: Report, one: SeedReport): void => {
  sum.seeds += 1
  sum.commands += one.commands
  sum.events += one.events
  if (one.isRepeatable) sum.replayed += 1
  addCounts(sum.mishaps, one.mishaps)
  addCounts(sum.reached, one.reached)
  if (one.violations.length > 0) sum.violations.push({ seed: one.seed, what: one.violations })
}

const addCounts = (sum: Record<string, number>, counts: Record<string, number>): void => {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count
}
