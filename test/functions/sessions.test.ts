import { describe, expect, it } from 'vitest'
import { listAudit } from '../../lib/audit/audit.ts'
import { currentUsage } from '../../lib/data/usage.ts'
import { SESSION_COOKIE } from '../../lib/http/session.ts'
import { authenticate } from '../../lib/principal/caller.ts'
import {
  keepSeen,
  listSessions,
  MAX_USER_AGENT_CHARS,
  newSession,
  SEEN_EVERY_MINUTES,
  SESSION_HOURS,
  SESSION_IDLE_HOURS,
} from '../../lib/principal/session.ts'
import { makeSession } from '../session.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf, snapshot } from '../world.ts'

useWorld()

const HOUR_MS = 3_600_000
const clockIn = (milliseconds: number) => ({ now: () => new Date(Date.now() + milliseconds) })
const signedIn = async () => {
  const person = await world.createPerson()
  return { person, ...(await makeSession(person.id)) }
}
type Headers = Record<string, string>
const ask = (method: string, path: string, headers: Headers, body?: unknown) =>
  world.request(method, `/api/v1${path}`, { key: null, headers, body })

describe('a session', () => {
  it('acts as a key of its user that may decide', async () => {
    const { person, session, headers } = await signedIn()
    expect(dataOf(await ask('GET', '/principals/me', headers))).toMatchObject({
      id: person.id,
      key_id: session.id,
      scopes: ['decide'],
    })
    const agent = await world.createAgent(['media'], { key: person.key })
    const run = (operation: string, body: object) =>
      ask(
        'POST',
        `/tools/media/operations/${operation}`,
        { ...headers, 'espalier-agent': agent },
        body,
      )
    const made = await run('create_media', { filename: 'a', content: 'A' })
    const { media } = dataOf<{ media: string[] }>(made)
    const gated = dataOf<{ call_id: string; digest: string }>(
      await run('get_public_url', { media_id: media[0] }),
    )
    const path = `/tool-calls/${gated.call_id}/approve`
    expect((await ask('POST', path, headers, { digest: gated.digest })).status).toBe(200)
  })

  it('costs a call no more requests to DynamoDB than a key does', async () => {
    const { person, headers } = await signedIn()
    const agent = await world.createAgent(['time'], { key: person.key })
    const before = currentUsage().requests
    const as = { ...headers, 'espalier-agent': agent }
    expect((await ask('POST', '/tools/time/operations/now', as, {})).status).toBe(200)
    expect(currentUsage().requests - before).toBe(3)
  })

  it('is not looked at where there is a key, even one that doesn’t count', async () => {
    const { person, headers } = await signedIn()
    const me = (authorization: string) =>
      ask('GET', '/principals/me', { ...headers, authorization })
    expect(dataOf(await me(`Bearer ${person.key}`))).toMatchObject({ key_id: person.keyId })
    for (const authorization of ['Bearer made-up', 'Basic YTpi', 'Bearer'])
      expect((await me(authorization)).status).toBe(401)
    // A key needs no token: no browser sends one by itself.
    const { cookie } = headers
    const answer = await world.request('POST', '/api/v1/agents', {
      key: person.key,
      headers: { cookie, origin: 'https://elsewhere.example' },
      body: { name: 'A', model: { provider: 'rehearsal', name: 'script' } },
    })
    expect(answer.status).toBe(201)
  })

  it('is no key: its text opens nothing as one, and a key’s text nothing as a cookie', async () => {
    const { person, text } = await signedIn()
    expect((await world.request('GET', '/api/v1/agents', { key: text })).status).toBe(401)
    const cookie = `${SESSION_COOKIE}=${person.key}`
    expect((await ask('GET', '/agents', { cookie })).status).toBe(401)
  })

  it('of another, or with a secret of one’s own, is nobody’s', async () => {
    const [one, two] = [await signedIn(), await signedIn()]
    const parts = one.text.split('_')
    const secret = two.text.split('_').slice(3).join('_')
    for (const text of [
      [...parts.slice(0, 3), secret].join('_'),
      ['ses', parts[1], two.person.id.slice(5), parts.slice(3).join('_')].join('_'),
      one.text.slice(0, -1),
      `${one.text}A`,
    ]) {
      const answer = await ask('GET', '/agents', { cookie: `${SESSION_COOKIE}=${text}` })
      expect(answer.status).toBe(401)
    }
  })

  it('ends a week after it began, whatever it did', async () => {
    const { person, text, session } = await signedIn()
    const end = Date.parse(session.expiresAt) - Date.now()
    expect(Math.round(end / HOUR_MS)).toBe(SESSION_HOURS)
    await keepSeen({ id: session.id, seenAt: session.createdAt }, clockIn(end - HOUR_MS))
    const caller = await authenticate({ session: text }, clockIn(end - 1_000))
    expect(caller.id).toBe(person.id)
    await expect(authenticate({ session: text }, clockIn(end + 1_000))).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    })
    expect(await listSessions(person.id, clockIn(end + 1_000))).toEqual([])
  })

  it('ends when it was not used for a day', async () => {
    const { person, text } = await signedIn()
    const idle = SESSION_IDLE_HOURS * HOUR_MS
    expect((await authenticate({ session: text }, clockIn(idle - 60_000))).id).toBe(person.id)
    await expect(authenticate({ session: text }, clockIn(idle + 1_000))).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    })
    expect(await listSessions(person.id, clockIn(idle + 1_000))).toEqual([])
  })

  it('is kept as seen at most every ten minutes, and never as seen earlier', async () => {
    const { person, session } = await signedIn()
    const seen = async () => (await listSessions(person.id))[0]?.seenAt
    const write = async (milliseconds: number) => {
      const before = currentUsage().requests
      await keepSeen({ id: session.id, seenAt: session.createdAt }, clockIn(milliseconds))
      return currentUsage().requests - before
    }
    const interval = SEEN_EVERY_MINUTES * 60_000
    expect(await write(interval - 5_000)).toBe(0)
    expect(await seen()).toBe(session.createdAt)
    expect(await write(interval + 5_000)).toBe(1)
    const later = await seen()
    expect(later).not.toBe(session.createdAt)
    // Another request that read the old time comes late.
    await write(interval + 1_000)
    expect(await seen()).toBe(later)
  })

  it('keeps so much of what a browser says of itself', async () => {
    const { person } = await signedIn()
    const { session } = newSession({
      id: 'session_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      userId: person.id,
      userAgent: 'x'.repeat(MAX_USER_AGENT_CHARS + 1),
    })
    expect(session.userAgent).toHaveLength(MAX_USER_AGENT_CHARS)
  })

  it('is stored as a hash, and its text is in no row, list or log', async () => {
    const { headers, text } = await signedIn()
    const listed = await ask('GET', '/sessions', headers)
    const current = await ask('GET', '/sessions/current', headers)
    const token = dataOf<{ csrf_token: string }>(current).csrf_token
    expect(token).toBe(headers['x-csrf-token'])
    expect(listed.text + current.text).not.toContain(text)
    const everything = JSON.stringify([await snapshot(), world.logs])
    for (const secret of [text, text.split('_').slice(3).join('_'), token])
      expect(everything).not.toContain(secret)
  })
})

describe('a write by cookie', () => {
  const write = async (change: (headers: Headers) => Headers) => {
    const { headers } = await signedIn()
    const answer = await ask('DELETE', '/sessions', change(headers))
    return answer.body.error?.code ?? answer.status
  }

  it('is taken from our own page, which names its origin or is told to be one', async () => {
    expect(await write(headers => headers)).toBe(200)
    expect(
      await write(({ origin, ...rest }) => ({ ...rest, 'sec-fetch-site': 'same-origin' })),
    ).toBe(200)
  })

  it.each<[string, (headers: Headers) => Headers]>([
    ['another site', headers => ({ ...headers, origin: 'https://elsewhere.example' })],
    ['a page without an origin', headers => ({ ...headers, origin: 'null' })],
    [
      'a page whose origin begins like ours',
      headers => ({ ...headers, origin: `${headers.origin}0` }),
    ],
    [
      'another site, whatever else it says',
      headers => ({
        ...headers,
        origin: 'https://elsewhere.example',
        'sec-fetch-site': 'same-origin',
      }),
    ],
    ['nobody knows where', ({ origin, ...rest }) => rest],
    [
      'another site of the same domain',
      ({ origin, ...rest }) => ({ ...rest, 'sec-fetch-site': 'same-site' }),
    ],
    [
      'another site without an origin',
      ({ origin, ...rest }) => ({ ...rest, 'sec-fetch-site': 'cross-site' }),
    ],
    ['a page without the token', ({ 'x-csrf-token': _, ...rest }) => rest],
    ['a page with an empty token', headers => ({ ...headers, 'x-csrf-token': '' })],
    ['a page with a made-up token', headers => ({ ...headers, 'x-csrf-token': 'x'.repeat(43) })],
  ])('from %s is refused', async (_, change) => {
    expect(await write(change)).toBe('CSRF_INVALID')
  })

  it('with the token of another session is refused', async () => {
    const other = (await signedIn()).headers['x-csrf-token']
    expect(await write(headers => ({ ...headers, 'x-csrf-token': other }))).toBe('CSRF_INVALID')
  })
})

describe('sessions', () => {
  it('are listed with their browser and whether they are this one, newest first', async () => {
    const { person, session, headers } = await signedIn()
    const newer = await makeSession(person.id, clockIn(1_000))
    const list = dataOf<object[]>(await ask('GET', '/sessions', headers))
    expect(list).toEqual([
      expect.objectContaining({ id: newer.session.id, current: false }),
      {
        id: session.id,
        user_id: person.id,
        user_agent: 'A test',
        created_at: session.createdAt,
        last_seen_at: session.createdAt,
        expires_at: session.expiresAt,
        current: true,
      },
    ])
  })

  it('are their user’s and admins’, and to others there are none', async () => {
    const { person, session } = await signedIn()
    const other = await signedIn()
    const path = `/sessions?user_id=${person.id}`
    expect((await ask('GET', path, other.headers)).status).toBe(404)
    expect((await ask('DELETE', path, other.headers)).status).toBe(404)
    expect((await ask('DELETE', `/sessions/${session.id}`, other.headers)).status).toBe(404)
    const listed = await world.request('GET', `/api/v1${path}`)
    expect(dataOf<{ id: string }[]>(listed).map(({ id }) => id)).toEqual([session.id])
  })

  it('end one by one, or all at once, and keys live on', async () => {
    const { person, session, headers } = await signedIn()
    const others = [await makeSession(person.id), await makeSession(person.id)]
    const [first] = others
    for (let time = 0; time < 2; time++)
      expect((await ask('DELETE', `/sessions/${first?.session.id}`, headers)).status).toBe(200)
    expect((await ask('GET', '/agents', first?.headers ?? {})).status).toBe(401)
    expect(dataOf(await ask('DELETE', '/sessions', headers))).toEqual({ revoked: 2 })
    for (const each of [headers, ...others.map(other => other.headers)])
      expect((await ask('GET', '/agents', each)).status).toBe(401)
    expect((await world.request('GET', '/api/v1/agents', { key: person.key })).status).toBe(200)
    // Nobody is told of what someone does with sessions of their own.
    expect((await listAudit(person.id, { limit: 10 })).items).toEqual([])
    expect(await listSessions(person.id)).toEqual([])
    expect(session.revokedAt).toBeUndefined()
  })

  it('that someone else ends are in their user’s log, once', async () => {
    const { person, session } = await signedIn()
    for (let time = 0; time < 2; time++)
      await world.request('DELETE', `/api/v1/sessions/${session.id}`)
    const { items } = await listAudit(person.id, { limit: 10 })
    expect(items).toEqual([
      expect.objectContaining({
        action: 'session-revoked',
        target: session.id,
        by: expect.not.stringContaining(person.id),
        keyId: expect.stringMatching(/^key_/),
      }),
    ])
  })

  it('end with signing out, which takes the cookie away', async () => {
    const { headers } = await signedIn()
    const answer = await ask('POST', '/sign-out', headers)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('set-cookie')).toMatch(
      new RegExp(`^${SESSION_COOKIE}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax$`),
    )
    expect((await ask('GET', '/sessions/current', headers)).status).toBe(401)
  })
})
