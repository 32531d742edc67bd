import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  createLimiter,
  limitsOf,
  MAX_TRACKED,
  RATE_LIMITS,
  type Synchronise,
  WINDOW_MS,
} from '../../../lib/principal/rate-limit.ts'

const START = Date.UTC(2026, 0, 1)
const clockAt = (milliseconds = 0) => ({ now: () => new Date(START + milliseconds) })

/** What the table does, and how often it was asked to. */
const createStore = () => {
  const counts = new Map<string, number>()
  let asked = 0
  const synchronise: Synchronise = async (subject, window, count) => {
    asked += 1
    const name = `${subject} ${window}`
    const total = (counts.get(name) ?? 0) + count
    counts.set(name, total)
    return total
  }
  return { synchronise, asked: () => asked }
}

const LIMITS = { perMinute: 100, syncEvery: 10 }
type Limiter = ReturnType<typeof createLimiter>

const passed = async (limiter: Limiter, requests: number, at = 0, subject = 'a') => {
  let count = 0
  for (let request = 0; request < requests; request++)
    if (await limiter.take(subject, LIMITS, clockAt(at))) count += 1
  return count
}

describe('one process', () => {
  it('lets through exactly as many as a minute has room for', async () => {
    const limiter = createLimiter(createStore().synchronise)
    expect(await passed(limiter, 99)).toBe(99)
    expect(await passed(limiter, 1)).toBe(1)
    expect(await passed(limiter, 50)).toBe(0)
  })

  it('begins anew with the next minute, and not a moment before', async () => {
    const limiter = createLimiter(createStore().synchronise)
    await passed(limiter, 200)
    expect(await passed(limiter, 1, WINDOW_MS - 1)).toBe(0)
    expect(await passed(limiter, 200, WINDOW_MS)).toBe(100)
  })

  it('keeps subjects apart', async () => {
    const limiter = createLimiter(createStore().synchronise)
    await passed(limiter, 200)
    expect(await passed(limiter, 1, 0, 'b')).toBe(1)
    expect(limiter.isSpent('a', LIMITS.perMinute, clockAt())).toBe(true)
    expect(limiter.isSpent('b', LIMITS.perMinute, clockAt())).toBe(false)
  })

  it('asks the table once in so many requests, and not at all once the share is spent', async () => {
    const store = createStore()
    const limiter = createLimiter(store.synchronise)
    await passed(limiter, 9)
    expect(store.asked()).toBe(0)
    await passed(limiter, 91)
    expect(store.asked()).toBe(10)
    await passed(limiter, 10_000)
    expect(store.asked()).toBe(10)
  })

  it('goes on by its own count where the table fails', async () => {
    const limiter = createLimiter(async () => {
      throw new Error('The table is away.')
    })
    expect(await passed(limiter, 200)).toBe(100)
  })

  it('forgets whom it saw first rather than keep count of everyone there is', async () => {
    const limiter = createLimiter(createStore().synchronise)
    await passed(limiter, 100, 0, 'first')
    for (let subject = 0; subject < MAX_TRACKED - 1; subject++)
      await limiter.take(`s${subject}`, LIMITS, clockAt())
    expect(await passed(limiter, 1, 0, 'first')).toBe(0)
    await limiter.take('one more', LIMITS, clockAt())
    expect(limiter.isSpent('first', LIMITS.perMinute, clockAt())).toBe(false)
  })

  it('that has many requests at once lets through no more than the limit and what is on its way', async () => {
    const limiter = createLimiter(createStore().synchronise)
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => limiter.take('a', LIMITS, clockAt())),
    )
    expect(answers.filter(Boolean)).toHaveLength(100)
  })
})

describe('several processes', () => {
  it('together let through the limit, and each at most what it hadn’t told the others', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.nat({ max: 7 }), { maxLength: 600 }),
        async (perMinute, every, turns) => {
          const limits = { perMinute, syncEvery: every }
          const store = createStore()
          const limiters = Array.from({ length: 8 }, () => createLimiter(store.synchronise))
          let through = 0
          let made = 0
          for (const turn of turns) {
            const isFree = await limiters[turn]?.take('a', limits, clockAt())
            // Nobody is refused who isn't one too many.
            expect(isFree || made >= perMinute).toBe(true)
            made += 1
            if (isFree) through += 1
          }
          const processes = new Set(turns).size
          expect(through).toBeLessThanOrEqual(perMinute + processes * (every - 1))
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('the limits', () => {
  afterEach(() => vi.unstubAllEnvs())
  const configure = (text: string) => vi.stubEnv('ESPALIER_RATE_LIMITS', text)

  it('are the usual ones where nothing else is configured', () => {
    configure('')
    for (const kind of ['key', 'address', 'everyone'] as const)
      expect(limitsOf(kind)).toEqual(RATE_LIMITS[kind])
  })

  it('are others, or off, where they are configured so', () => {
    configure(' key=5 , address=off')
    expect(limitsOf('key')).toEqual({ perMinute: 5, syncEvery: 3 })
    expect(limitsOf('address')).toBeUndefined()
    expect(limitsOf('everyone')).toEqual(RATE_LIMITS.everyone)
    configure('key=1')
    expect(limitsOf('key')).toEqual({ perMinute: 1, syncEvery: 1 })
    configure('key=100000')
    expect(limitsOf('key')?.syncEvery).toBe(RATE_LIMITS.key.syncEvery)
  })

  it.each(['key', 'key=0', 'key=-1', 'key=1.5', 'keys=5', 'key=5;address=5', 'key=5,'])(
    'that say "%s" are an error',
    text => {
      configure(text)
      expect(() => limitsOf('key')).toThrow('ESPALIER_RATE_LIMITS')
    },
  )
})
