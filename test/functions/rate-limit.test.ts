import { afterEach, describe, expect, it, vi } from 'vitest'
import { currentUsage } from '../../lib/data/usage.ts'
import { limitCaller, limitStranger, RATE_LIMITS } from '../../lib/principal/rate-limit.ts'
import { makeSession } from '../session.ts'
import { useWorld, world } from '../use-world.ts'
import { snapshot } from '../world.ts'

useWorld()
afterEach(() => vi.unstubAllEnvs())

const limit = (text: string) => vi.stubEnv('ESPALIER_RATE_LIMITS', text)
const MINUTE_MS = 60_000

/** Waits where a minute is about to end: what is counted here is counted within one. */
const withinMinute = async () => {
  const left = MINUTE_MS - (Date.now() % MINUTE_MS)
  if (left < 5_000) await new Promise(resolve => setTimeout(resolve, left + 50))
}
const times = async <T>(count: number, work: () => Promise<T>): Promise<T[]> => {
  const results: T[] = []
  for (let time = 0; time < count; time++) results.push(await work())
  return results
}
/** A minute of its own for a test, far from every other's. */
let minute = 0
const clockOf = () => {
  minute += 1
  const start = Date.UTC(2030, 0, 1) + minute * MINUTE_MS
  return (milliseconds = 0) => ({ now: () => new Date(start + milliseconds) })
}

describe('a key', () => {
  it('is told when to try again once it has had its share of a minute', async () => {
    await withinMinute()
    limit('key=4')
    const { key } = await world.createPerson()
    const ask = () => world.request('GET', '/api/v1/principals/me', { key })
    const answers = await times(6, ask)
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429])
    const last = answers.at(-1)
    expect(last?.body.error?.code).toBe('TOO_MANY_REQUESTS')
    const seconds = Number(last?.headers.get('retry-after'))
    expect(seconds).toBeGreaterThanOrEqual(1)
    expect(seconds).toBeLessThanOrEqual(60)
    expect(last?.body.error?.details).toEqual({ retry_after_seconds: seconds })
    // Another key of anyone's is no worse for it.
    const other = await world.createPerson()
    const answer = await world.request('GET', '/api/v1/principals/me', { key: other.key })
    expect(answer.status).toBe(200)
  })

  it('has one share for all routes, those of operations among them, and so has a session', async () => {
    await withinMinute()
    const person = await world.createPerson()
    const agent = await world.createAgent(['time'], { key: person.key })
    limit('key=2')
    const { headers } = await makeSession(person.id)
    for (const as of [
      { key: (await world.createUserKey(person.id)).key, headers: {} },
      { key: null, headers },
    ]) {
      const run = () =>
        world.request('POST', '/api/v1/tools/time/operations/now', {
          key: as.key,
          headers: { ...as.headers, 'espalier-agent': agent },
          body: {},
        })
      const read = () => world.request('GET', '/api/v1/agents', as)
      expect((await run()).status).toBe(200)
      expect((await read()).status).toBe(200)
      expect((await run()).status).toBe(429)
      expect((await read()).status).toBe(429)
    }
  })

  it('that isn’t proved uses up nobody’s share', async () => {
    await withinMinute()
    limit('key=2')
    const { key } = await world.createPerson()
    const forged = `${key.slice(0, -43)}${'x'.repeat(43)}`
    const answers = await times(5, () => world.request('GET', '/api/v1/agents', { key: forged }))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
    expect((await world.request('GET', '/api/v1/agents', { key })).status).toBe(200)
  })

  it('costs the table a write in fifty, and adds up across processes there', async () => {
    limit('')
    const at = clockOf()
    const { keyId } = await world.createPerson()
    const before = currentUsage()
    await times(RATE_LIMITS.key.syncEvery - 1, () => limitCaller({ keyId }, at()))
    expect(currentUsage().requests).toBe(before.requests)
    await limitCaller({ keyId }, at())
    expect(currentUsage().requests).toBe(before.requests + 1)
    expect(currentUsage().writeUnits).toBe(before.writeUnits + 1)
    const rows = Object.entries(await snapshot()).filter(([name]) => name.includes(`rate#${keyId}`))
    expect(rows).toEqual([
      [
        `rate#${keyId} / ${at().now().toISOString()}`,
        expect.objectContaining({ count: 50, ttl: at().now().getTime() / 1_000 + 600 }),
      ],
    ])
  })

  it('has its share anew at the minute’s turn', async () => {
    limit('key=3')
    const at = clockOf()
    const { keyId } = await world.createPerson()
    await times(3, () => limitCaller({ keyId }, at()))
    for (const [milliseconds, seconds] of [
      [0, 60],
      [1, 60],
      [59_000, 1],
      [59_999, 1],
    ] as const)
      await expect(limitCaller({ keyId }, at(milliseconds))).rejects.toMatchObject({
        details: { retry_after_seconds: seconds },
      })
    await limitCaller({ keyId }, at(60_000))
  })
})

describe('those who have proved nothing', () => {
  it('have a share by address at sign-in, the claim and invitations together', async () => {
    await withinMinute()
    limit('key=off, address=4, everyone=off')
    const post = (path: string, body: object) => () =>
      world.request('POST', `/api/v1${path}`, { key: null, body })
    const claim = post('/claim', { secret: 'made up' })
    const accept = post('/invitations/accept', { token: 'made up', name: 'A' })
    const signIn = () => world.request('GET', '/sign-in', { key: null })
    const callback = () => world.request('GET', '/sign-in/callback?code=a&state=b', { key: null })
    const all = [claim, accept, signIn, callback]
    for (const ask of all) expect((await ask()).status).not.toBe(429)
    for (const ask of all) {
      const answer = await ask()
      expect(answer.status).toBe(429)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    }
    // Keys are not theirs.
    expect((await world.request('GET', '/api/v1/agents')).status).toBe(200)
  })

  it('come from where the gateway says, whatever a header does', async () => {
    await withinMinute()
    limit('key=off, address=1, everyone=off')
    const ask = (address: string) =>
      world.request('POST', '/api/v1/claim', {
        key: null,
        body: { secret: 'made up' },
        headers: { 'x-forwarded-for': address, forwarded: `for=${address}` },
      })
    await ask('192.0.2.1')
    expect((await ask('192.0.2.2')).status).toBe(429)
  })

  it('have a share all together, from however many addresses', async () => {
    limit('address=off, everyone=6')
    const at = clockOf()
    for (let address = 0; address < 6; address++) await limitStranger(`192.0.2.${address}`, at())
    await expect(limitStranger('192.0.2.9', at())).rejects.toMatchObject({
      code: 'TOO_MANY_REQUESTS',
    })
    await limitStranger('192.0.2.9', at(MINUTE_MS))
  })

  it('cost the table next to nothing, however many they are', async () => {
    limit('')
    const at = clockOf()
    const before = currentUsage().requests
    const flood = async (address: (request: number) => string) => {
      for (let request = 0; request < 3_000; request++)
        await limitStranger(address(request), at()).catch(() => {})
    }
    await flood(() => '192.0.2.1')
    expect(currentUsage().requests - before).toBeLessThanOrEqual(3)
    await flood(request => `198.51.100.${request % 200}`)
    await flood(request => `2001:db8:${request}`)
    expect(currentUsage().requests - before).toBeLessThanOrEqual(
      Math.ceil(RATE_LIMITS.everyone.perMinute / RATE_LIMITS.address.syncEvery) +
        Math.ceil(RATE_LIMITS.everyone.perMinute / RATE_LIMITS.everyone.syncEvery),
    )
  })

  it('leave no address in a row', async () => {
    limit('address=2, everyone=off')
    const at = clockOf()
    await limitStranger('203.0.113.77', at())
    const stored = JSON.stringify(await snapshot())
    expect(stored).toContain('rate#address#')
    expect(stored).not.toContain('203.0.113.77')
  })
})
