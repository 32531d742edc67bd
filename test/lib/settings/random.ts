/** Choices that a seed decides: the same one makes the same again. */
export type Random = {
  below: (limit: number) => number
  chance: (probability: number) => boolean
  pick: <T>(from: readonly T[]) => T
}

/** Marsaglia's xorshift of 32 bits. */
export const generator = (seed: number): Random => {
  let state = seed >>> 0 || 1
  const next = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    chance: probability => next() < probability,
    pick: from => from[below(from.length)] as never,
  }
}
