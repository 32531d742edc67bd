/** A stream of random numbers that always is the same for a seed (mulberry32). */
export type Random = ReturnType<typeof createRandom>

export const createRandom = (seed: number) => {
  // Seeds that follow each other would begin alike.
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0

  /** From 0 up to and without 1. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000
  }
  /** A whole number from `min` to `max`, both included. */
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))

  return {
    next,
    int,
    chance: (probability: number): boolean => next() < probability,
    pick: <T>(items: readonly T[]): T => {
      const item = items[int(0, items.length - 1)]
      if (item === undefined) throw new Error('There is nothing to pick from.')
      return item
    },
    /** A duration around `mean`: most are shorter, a few are much longer. */
    around: (mean: number): number => Math.ceil(-Math.log(1 - next()) * mean),
    fill: (bytes: Uint8Array): void => {
      for (let index = 0; index < bytes.length; index++) bytes[index] = next() * 256
    },
  }
}
