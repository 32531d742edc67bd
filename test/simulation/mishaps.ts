import type { Random } from './random.ts'

/** What can go wrong by itself, and how often it does in a run that has it at all. */
const KINDS = {
  'killed before a command': 0.02,
  'killed after a command': 0.02,
  'killed before a model call': 0.1,
  'killed after a model call': 0.1,
  'killed before an effect': 0.2,
  'killed after an effect': 0.2,
  paused: 0.01,
  'paused past its lease': 0.01,
  'hung until its time was up': 0.008,
  'answer lost': 0.04,
  conflict: 0.02,
  throttled: 0.01,
  'keys left out of a batch': 0.03,
  'late read': 0.15,
  'event delivered twice': 0.2,
  'event delivered late': 0.2,
  'function invoked twice': 0.12,
  'function lost while it ran': 0.08,
  'function invoked late': 0.12,
  'operation invoked twice': 0.3,
  'invocation refused': 0.05,
  'invocation answer lost': 0.1,
  'token call lost': 0.2,
  'start answer lost': 0.12,
  'execution not seen yet': 0.2,
  'thawed after its answer': 0.1,
  'model failed': 0.15,
  'model was slow': 0.15,
} as const

export type Mishap = keyof typeof KINDS
export const MISHAPS = Object.keys(KINDS) as Mishap[]

/** Mishaps of one run at most: with too many, nothing interesting is ever reached. */
const MAX_BUDGET = 14
/** Runs in which all goes well. */
const CALM = 0.2
/** The chance that a run has a kind at all. */
const HAS = 0.5

export type Mishaps = ReturnType<typeof createMishaps>

/** Which mishaps a run has, and when: what a seed decides. */
export const createMishaps = (random: Random) => {
  const counts: Partial<Record<Mishap, number>> = {}
  let isOver = false
  let budget = random.chance(CALM) ? 0 : random.int(1, MAX_BUDGET)
  const rates = Object.fromEntries(
    MISHAPS.map(kind => [kind, random.chance(HAS) ? KINDS[kind] * (0.5 + 2 * random.next()) : 0]),
  ) as Record<Mishap, number>

  return {
    counts,
    happens: (kind: Mishap): boolean => {
      if (budget === 0 || rates[kind] === 0 || !random.chance(rates[kind])) return false
      budget -= 1
      counts[kind] = (counts[kind] ?? 0) + 1
      return true
    },
    /** From here on all goes well. */
    stop: (): void => {
      budget = 0
      isOver = true
    },
    areOver: (): boolean => isOver,
    /** Whether this is a run in which nothing goes wrong. */
    isCalm: budget === 0,
  }
}
