import type { Clock } from './clock.ts'
import type { Life } from './life.ts'
import type { Random } from './random.ts'
import type { Trace } from './trace.ts'

type Point = { label: string; life: Life | undefined; go: () => void }

export type Scheduler = ReturnType<typeof createScheduler>

/** Nothing that a run does in its own time takes longer than this, in turns of Node's event loop. */
const MAX_TURNS = 1_000

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/**
 * Lets one thing happen at a time. Whatever a function sends is a point at which it stands until it
 * is picked, at random; time moves on only once nobody stands anywhere.
 */
export const createScheduler = (clock: Clock, random: Random, trace: Trace) => {
  let points: Point[] = []
  let activity = 0
  let picked = 0

  /** Stands here until it is this one's turn; for ever, if its function dies before. */
  const point = (label: string, life?: Life): Promise<void> =>
    new Promise(resolve => {
      activity += 1
      points.push({ label, life, go: resolve })
    })

  /** Lets everything run that can without being picked. */
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < MAX_TURNS; turns++) {
      const before = activity
      await turn()
      if (activity === before) return
    }
    throw new Error('A function does not come to rest.')
  }

  const isAwake = ({ life }: Point): boolean => (life?.pausedUntil ?? 0) <= clock.now()

  /** When the next sleeper wakes, or the next timer fires. */
  const nextAt = (): number | undefined => {
    const times = points.map(({ life }) => life?.pausedUntil ?? 0)
    const timer = clock.nextAt()
    if (timer !== undefined) times.push(timer)
    return times.length === 0 ? undefined : Math.min(...times)
  }

  return {
    point,
    picked: (): number => picked,

    /**
     * Runs until `idle` says that it is over, or until nothing is left to happen, which is false.
     * `idle` is asked before time moves to the next thing that happens by itself, and says how far
     * it may.
     */
    run: async (
      idle: (next: number | undefined) => number | 'over' | undefined,
    ): Promise<boolean> => {
      for (;;) {
        await settle()
        points = points.filter(({ life }) => !life?.dead)
        const awake = points.filter(isAwake)
        if (awake.length > 0) {
          const chosen = random.pick(awake)
          points.splice(points.indexOf(chosen), 1)
          picked += 1
          trace.add(chosen.life, chosen.label)
          chosen.go()
          continue
        }
        const at = idle(nextAt())
        if (at === 'over') return true
        if (at === undefined) return false
        clock.moveTo(at)
        activity += 1
      }
    },
  }
}
