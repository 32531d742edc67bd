import { callIdAt } from '../../../lib/call/tool-call.ts'
import { spawnedId } from '../../../lib/workflow/spawn.ts'
import type { Stage } from './stage.ts'
import { ranAt } from './tool.ts'
import { each, less, type Used } from './used.ts'

/** By how much a child's requests may grow from the fewest to the most children. */
export const MAX_GROWTH = 0.1
/** Of the writes, how many meet another transaction where conflicts are injected. */
export const CONFLICT_RATE = 0.1

export type Family = {
  children: number
  conflicts: boolean
  /** From the spawning operation's start to the parent's next call, less one child's own time. */
  ms: number
  msPerChild: number
  /** What each child beyond the first has used. */
  perChild: Used
}

export type ChildFigures = {
  /** A child by itself, from its making to its end. */
  childMs: number
  families: Family[]
  /** Requests of a child among the most, beside one among the fewest, less 1. */
  growth: { plain: number; conflicts: number }
}

/** A parent with ever more children; with conflicts, the fewest and the most. */
export const measureChildren = async (stage: Stage, counts: number[]): Promise<ChildFigures> => {
  // What is loaded with the first spawn is no child's own.
  await run(stage, 1)
  const alone = await run(stage, 1)
  const childMs = await stage.lifeMs(spawnedId(callIdAt(alone.id, 1, 0)))
  const families: Family[] = []
  for (const conflicts of [false, true]) {
    stage.conflicts(conflicts ? CONFLICT_RATE : 0)
    for (const children of conflicts ? [...counts.slice(0, 1), ...counts.slice(-1)] : counts) {
      const { used, ms } = await run(stage, children)
      families.push({
        children,
        conflicts,
        ms: ms - childMs,
        msPerChild: (ms - childMs) / children,
        perChild: each(less(used, alone.used), children - 1),
      })
    }
  }
  stage.conflicts(0)
  return {
    childMs,
    families,
    growth: {
      plain: growthOf(families.filter(({ conflicts }) => !conflicts)),
      conflicts: growthOf(families.filter(({ conflicts }) => conflicts)),
    },
  }
}

const run = async (stage: Stage, count: number) => {
  const ids: Awaited<ReturnType<Stage['start']>>[] = []
  const used = await stage.using(async () => {
    const id = await stage.start(`/bench spawn {"count": ${count}}`, '/bench read {"number": 0}')
    ids.push(id)
    await stage.until(id, 'COMPLETED')
  })
  const id = ids[0] as (typeof ids)[number]
  const [spawned = Number.NaN, resumed = Number.NaN] = ranAt.get(id) ?? []
  return { id, used, ms: resumed - spawned }
}

/** How much more a child of the last family asks than one of the first. */
const growthOf = (families: Family[]): number => {
  const [first, last] = [families.at(0), families.at(-1)]
  if (!first || !last) return Number.NaN
  return last.perChild.requests / first.perChild.requests - 1
}

/** Whether a child costs more the more siblings it has. */
export const hasGrown = ({ growth }: Pick<ChildFigures, 'growth'>): boolean =>
  !(growth.plain <= MAX_GROWTH && growth.conflicts <= MAX_GROWTH)
