import { text } from 'node:stream/consumers'
import { describe, expect, it, test } from 'vitest'
import { guardedFetch } from '../../../lib/web/guarded-fetch.ts'
import { LIMITS } from '../../../lib/web/limits.ts'
import { failure } from './failure.ts'
import { allow, resolving, startServer } from './server.ts'

type Seen = { method: string; url: string; headers: Record<string, unknown>; body: string }

/** A server that keeps what it was asked, and sends `/hop` on as told. */
const startRecorder = async (target: () => string = () => '/end', status = 302) => {
  const seen: Seen[] = []
  const server = await startServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    seen.push({ method, url, headers, body: await text(request) })
    if (url.startsWith('/hop')) response.writeHead(status, { location: target() })
    response.end(`at ${url}`)
  })
  return { ...server, seen }
}

const CREDENTIALS = {
  authorization: 'Bearer s3cret',
  cookie: 'session=s3cret',
  'proxy-authorization': 'Basic s3cret',
  'x-api-key': 's3cret',
  'api-key': 's3cret',
  'x-goog-api-key': 's3cret',
  referer: 'https://here.example/?token=s3cret',
}

describe('what is sent on', () => {
  it('holds no credential under any name where another origin is next, or comes after it', async () => {
    const back = await startRecorder()
    const other = await startRecorder(() => `${back.url}/end`)
    const first = await startRecorder(() => `${other.url}/hop`)
    allow('127.0.0.1')
    const response = await guardedFetch()(`${first.url}/hop`, {
      headers: { ...CREDENTIALS, accept: 'text/html', 'user-agent': 'Gardener' },
    })
    expect(await response.text()).toBe('at /end')
    const names = Object.keys(CREDENTIALS).filter(name => name !== 'proxy-authorization')
    expect(Object.keys(first.seen[0]?.headers ?? {})).toEqual(expect.arrayContaining(names))
    for (const { seen } of [other, back]) {
      expect(JSON.stringify(seen)).not.toContain('s3cret')
      expect(seen[0]?.headers).toMatchObject({ accept: 'text/html', 'user-agent': 'Gardener' })
    }
  })

  it('is dropped for good, even where a redirect leads back to the first origin', async () => {
    const origin = await startRecorder(() => `${other.url}/hop`)
    const other = await startRecorder(() => `${origin.url}/end`)
    allow('127.0.0.1')
    await guardedFetch()(`${origin.url}/hop`, { headers: CREDENTIALS })
    expect(JSON.stringify(origin.seen[0])).toContain('s3cret')
    expect(JSON.stringify(origin.seen[1])).not.toContain('s3cret')
  })

  it('is all that it was where the origin stays, whatever it says of the connection', async () => {
    const server = await startRecorder()
    allow('127.0.0.1')
    await guardedFetch()(`${server.url}/hop`, {
      headers: { ...CREDENTIALS, host: 'elsewhere.example', connection: 'upgrade', te: 'trailers' },
    })
    expect(server.seen[1]?.headers).toMatchObject({
      authorization: 'Bearer s3cret',
      'x-api-key': 's3cret',
      host: `127.0.0.1:${server.port}`,
      connection: 'close',
    })
    expect(server.seen[1]?.headers).not.toHaveProperty('proxy-authorization')
    expect(server.seen[1]?.headers).not.toHaveProperty('te')
  })

  it('knows another port and another name as another origin', async () => {
    const server = await startRecorder(() => `http://two.example:${server.port}/end`)
    const { resolve } = resolving({ 'one.example': ['127.0.0.1'], 'two.example': ['127.0.0.1'] })
    allow('one.example', 'two.example')
    await guardedFetch({ resolve })(`http://one.example:${server.port}/hop`, {
      headers: CREDENTIALS,
    })
    expect(server.seen[1]?.headers).toMatchObject({ host: `two.example:${server.port}` })
    expect(JSON.stringify(server.seen[1])).not.toContain('s3cret')
  })
})

describe('a method and its body', () => {
  test.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [301, 'PUT', 'PUT'],
    [302, 'DELETE', 'DELETE'],
    [307, 'POST', 'POST'],
    [308, 'PATCH', 'PATCH'],
    [307, 'PUT', 'PUT'],
  ])('after %d, %s is %s', async (status, method, then) => {
    const server = await startRecorder(() => '/end', status)
    allow('127.0.0.1')
    await guardedFetch()(`${server.url}/hop`, { method, body: JSON.stringify({ a: 1 }) })
    const [first, second] = server.seen
    expect(first).toMatchObject({ method, body: '{"a":1}' })
    expect(second).toMatchObject({ method: then, body: then === method ? '{"a":1}' : '' })
    expect('content-type' in (second?.headers ?? {})).toBe(then === method)
  })

  it('HEAD stays HEAD after 303', async () => {
    const server = await startRecorder(() => '/end', 303)
    allow('127.0.0.1')
    const response = await guardedFetch()(`${server.url}/hop`, { method: 'HEAD' })
    expect(server.seen.map(({ method }) => method)).toEqual(['HEAD', 'HEAD'])
    expect(response.body).toBe(null)
  })

  it('of a stream is repeated whole', async () => {
    const server = await startRecorder(() => '/end', 307)
    allow('127.0.0.1')
    const body = new Blob(['seeds ', 'and soil']).stream()
    await guardedFetch()(`${server.url}/hop`, { method: 'POST', body })
    expect(server.seen.map(({ body }) => body)).toEqual(['seeds and soil', 'seeds and soil'])
  })
})

describe('how far redirects are followed', () => {
  const startChain = async (redirects: number) =>
    startServer((request, response) => {
      const at = Number.parseInt(request.url?.slice(1) ?? '', 10)
      if (at < redirects) response.writeHead(302, { location: `/${at + 1}` })
      response.end(`at ${at}`)
    })

  it('is up to the limit and no further', async () => {
    const server = await startChain(Number.POSITIVE_INFINITY)
    const short = await startChain(LIMITS.maxRedirects)
    allow('127.0.0.1')
    const response = await guardedFetch()(`${short.url}/0`)
    expect(await response.text()).toBe(`at ${LIMITS.maxRedirects}`)
    const error = await failure(guardedFetch()(`${server.url}/0?key=s3cret`))
    expect(error.message).toBe(`${server.url} redirects more than ${LIMITS.maxRedirects} times.`)
    expect(server.connections()).toBe(LIMITS.maxRedirects + 1)
  })

  it('is told by the response', async () => {
    const server = await startChain(2)
    allow('127.0.0.1')
    const response = await guardedFetch()(`${server.url}/0#part`)
    expect(response).toMatchObject({ url: `${server.url}/2`, redirected: true })
    expect(response.clone()).toMatchObject({ url: `${server.url}/2`, redirected: true })
    const straight = await guardedFetch()(`${server.url}/2`)
    expect(straight).toMatchObject({ url: `${server.url}/2`, redirected: false })
  })

  it('is the caller’s to say: none by hand, and an error where it wants none', async () => {
    const server = await startChain(2)
    allow('127.0.0.1')
    const manual = await guardedFetch()(`${server.url}/0`, { redirect: 'manual' })
    expect(manual.status).toBe(302)
    expect(manual.headers.get('location')).toBe('/1')
    const error = await failure(guardedFetch()(`${server.url}/0`, { redirect: 'error' }))
    expect(error).toMatchObject({ code: 'FETCH_FAILED' })
    expect(server.connections()).toBe(2)
    const none = guardedFetch()(`${server.url}/0`, { limits: { maxRedirects: 0 } })
    expect((await failure(none)).message).toContain('redirects more than 0 times')
  })

  it('ends where a redirect names no place', async () => {
    const server = await startServer((request, response) =>
      request.url === '/none'
        ? response.writeHead(302).end('stay')
        : response.writeHead(302, { location: 'http://[bad' }).end(),
    )
    allow('127.0.0.1')
    const response = await guardedFetch()(`${server.url}/none`)
    expect([response.status, await response.text()]).toEqual([302, 'stay'])
    expect((await failure(guardedFetch()(`${server.url}/bad`))).message).toContain('no address')
  })

  it('takes addresses in UTF-8, relative ones too', async () => {
    const server = await startRecorder(() => Buffer.from('../Gärten?ö').toString('latin1'))
    allow('127.0.0.1')
    await guardedFetch()(`${server.url}/hop/deep/er`)
    expect(server.seen[1]?.url).toBe('/hop/G%C3%A4rten?%C3%B6')
  })
})
