import type { Life } from './life.ts'

export type Trace = ReturnType<typeof createTrace>

/** Lines that are kept to be shown; the hash is over all of them. */
const MAX_KEPT = 20_000

/** What happened in a run, in order, and a hash by which two runs are the same or not. */
export const createTrace = (now: () => number) => {
  const startedAt = now()
  const lines: string[] = []
  let hash = 0x811c9dc5
  let count = 0

  return {
    add: (life: Life | undefined, what: string): void => {
      const seconds = ((now() - startedAt) / 1_000).toFixed(3)
      const who = life ? `${life.role}#${life.id}${life.about}` : '-'
      const line = `+${seconds}s ${who} ${what}`
      for (let index = 0; index < line.length; index++)
        hash = Math.imul(hash ^ line.charCodeAt(index), 0x01000193)
      count += 1
      if (lines.length < MAX_KEPT) lines.push(line)
    },
    lines,
    count: (): number => count,
    hash: (): string => (hash >>> 0).toString(16).padStart(8, '0'),
  }
}
