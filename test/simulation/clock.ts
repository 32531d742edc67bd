import { AsyncLocalStorage } from 'node:async_hooks'
import type { Life } from './life.ts'
import type { Random } from './random.ts'

type Timer = {
  at: number
  order: number
  /** Between two times that it fires; absent, it does so once. */
  everyMs?: number
  life: Life | undefined
  fire: () => void
}

export type Clock = ReturnType<typeof createClock>

/** Which function's run this is: what it does is done in its name, and not after its death. */
export const lives = new AsyncLocalStorage<Life>()

/**
 * The one time that everything in a run goes by; it moves when it is told to. Timers fire at whole
 * multiples of its grain: with a coarse one, much happens at the same time.
 */
export const createClock = (startAt: number, random: Random, { grainMs = 1 } = {}) => {
  const timers = new Set<Timer>()
  let now = startAt
  let order = 0

  const add = (delayMs: number, fire: () => void, everyMs?: number): Timer => {
    const timer: Timer = {
      at: Math.ceil((now + Math.max(0, Math.round(delayMs))) / grainMs) * grainMs,
      order: order++,
      life: lives.getStore(),
      fire: AsyncLocalStorage.bind(fire),
      ...(everyMs === undefined ? {} : { everyMs: Math.max(1, Math.round(everyMs)) }),
    }
    timers.add(timer)
    return timer
  }

  /** When a timer fires: whoever is paused hears of it later. */
  const dueAt = ({ at, life }: Timer): number => Math.max(at, life?.pausedUntil ?? 0)

  const next = (): Timer | undefined => {
    let first: Timer | undefined
    for (const timer of timers) {
      if (timer.life?.dead) timers.delete(timer)
      else if (
        !first ||
        dueAt(timer) < dueAt(first) ||
        (dueAt(timer) === dueAt(first) && timer.order < first.order)
      )
        first = timer
    }
    return first
  }

  return {
    now: (): number => now,
    random,
    add,
    remove: (timer: Timer): void => void timers.delete(timer),
    sleep: (delayMs: number): Promise<void> => new Promise(resolve => add(delayMs, resolve)),
    /** When something happens next by itself. */
    nextAt: (): number | undefined => {
      const timer = next()
      return timer && dueAt(timer)
    },
    /** Moves time on, up to the next timer at most, and lets that one fire. */
    moveTo: (at: number): void => {
      now = Math.max(now, at)
      const timer = next()
      if (!timer || dueAt(timer) > now) return
      if (timer.everyMs === undefined) timers.delete(timer)
      else Object.assign(timer, { at: now + timer.everyMs, order: order++ })
      timer.fire()
    },
  }
}
