import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { handle, type LambdaEvent } from 'hono/aws-lambda'
import { getCookie, setCookie } from 'hono/cookie'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { setLogSink } from '../../../lib/core/log.ts'
import {
  type LocalApi,
  MAX_HEADER_BYTES,
  type RequestLine,
  startApi,
} from '../../../lib/local/api.ts'
import { type LocalLambda, startLambda } from '../../../lib/local/lambda.ts'

const MIB = 1024 * 1024
const BYTES = Uint8Array.from({ length: 256 }, (_, index) => index)

/** A Hono app behind `handle`, as the deployed functions are. */
const app = new Hono()
  .all('/api/v1/echo/:id', async context => {
    const { req } = context
    return context.json({
      method: req.method,
      id: req.param('id'),
      path: req.path,
      queries: req.queries(),
      cookies: getCookie(context),
      headers: Object.fromEntries(req.raw.headers),
      body: await req.text(),
    })
  })
  .post('/api/v1/bytes', async context =>
    context.body(new Uint8Array(await context.req.arrayBuffer()), 200, {
      'content-type': 'application/octet-stream',
    }),
  )
  .get('/api/v1/cookies', context => {
    setCookie(context, 'a', '1', { httpOnly: true })
    setCookie(context, 'b', '2')
    return context.body(null, 204)
  })

const honoHandler = handle(app)
const seen: unknown[] = []

/** What the functions return that are no Hono apps. */
const results: Record<string, () => unknown> = {
  event: () => ({ statusCode: 200, body: 'seen' }),
  object: () => ({ ok: true }),
  text: () => 'just text',
  nothing: () => undefined,
  malformed: () => ({ statusCode: 'soon', body: 'x' }),
  headers: () => ({
    statusCode: 201,
    headers: { 'X-Number': 5, 'content-length': '999', 'set-cookie': 'c=3' },
    cookies: ['d=4; Path=/'],
    body: 'created',
  }),
  badHeader: () => ({ statusCode: 200, headers: { 'x-bad': 'a\nb' }, body: '' }),
  huge: () => 'x'.repeat(7 * MIB),
  throwing: () => {
    throw new Error('secret detail')
  },
  slow: () => sleep(400),
  base64: () => ({
    statusCode: 200,
    headers: { 'content-type': 'image/png' },
    body: Buffer.from(BYTES).toString('base64'),
    isBase64Encoded: true,
  }),
}

const lines: RequestLine[] = []
let lambda: LocalLambda
let api: LocalApi

beforeAll(async () => {
  setLogSink(() => {})
  lambda = await startLambda({
    functions: name => ({
      handler: async () => async (event, context) => {
        seen.push(event)
        if (name !== 'hono') return results[name]?.()
        return honoHandler(event as LambdaEvent, context as never)
      },
      timeoutSeconds: 30,
      memoryMb: 128,
    }),
  })
  api = await startApi({
    routes: [
      { method: 'ANY', path: '/api/v1/echo/{id}', functionName: 'hono' },
      { method: 'POST', path: '/api/v1/bytes', functionName: 'hono' },
      { method: 'GET', path: '/api/v1/cookies', functionName: 'hono' },
      { method: 'GET', path: '/api/v1/tasks', functionName: 'event' },
      { method: 'POST', path: '/api/v1/tasks', functionName: 'event' },
      { method: 'GET', path: '/api/v1/tasks/{id}', functionName: 'event' },
      { method: 'GET', path: '/api/v1/tasks/{id}/steps/{step}', functionName: 'event' },
      { method: 'GET', path: '/api/v1/tasks/latest', functionName: 'object' },
      { method: 'GET', path: '/api/v1/tasks/{id}/{rest+}', functionName: 'text' },
      ...Object.keys(results).map(name => ({
        method: 'GET',
        path: `/api/v1/results/${name}`,
        functionName: name,
      })),
    ],
    invoke: lambda.invoke,
    onRequest: line => lines.push(line),
    fallback: new Hono().get('/', context => context.text('start page')),
    timeoutMs: 200,
  })
})

afterAll(async () => {
  await api.close()
  await lambda.close()
})

beforeEach(() => {
  lines.length = 0
  seen.length = 0
})

const get = (path: string, init?: RequestInit) => fetch(`${api.url}${path}`, init)

/** A request that fetch would not send as it is written. */
const raw = async (
  path: string,
  options: { headers?: Record<string, string>; method?: string },
) => {
  const request = httpRequest({ host: '127.0.0.1', port: api.port, path, ...options })
  request.end()
  const [response] = await once(request, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, text }
}

test('the event is the one of payload format 2.0', async () => {
  const response = await get('/api/v1/tasks/task%201/steps/2?a=1&b=x%20y&a=2&c', {
    headers: { cookie: 'one=1; two=2,3', 'x-Some': 'A', 'user-agent': 'test' },
  })
  expect(response.status).toBe(200)
  const [event] = seen as [Record<string, never>]
  expect(event).toEqual({
    version: '2.0',
    routeKey: 'GET /api/v1/tasks/{id}/steps/{step}',
    rawPath: '/api/v1/tasks/task 1/steps/2',
    rawQueryString: 'a=1&b=x%20y&a=2&c',
    cookies: ['one=1', 'two=2,3'],
    headers: expect.objectContaining({
      host: `127.0.0.1:${api.port}`,
      'x-some': 'A',
      'user-agent': 'test',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-port': String(api.port),
      'x-forwarded-proto': 'http',
    }),
    queryStringParameters: { a: '1,2', b: 'x y', c: '' },
    pathParameters: { id: 'task 1', step: '2' },
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName: `127.0.0.1:${api.port}`,
      domainPrefix: '127',
      http: {
        method: 'GET',
        path: '/api/v1/tasks/task 1/steps/2',
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: 'test',
      },
      requestId: response.headers.get('apigw-requestid'),
      routeKey: 'GET /api/v1/tasks/{id}/steps/{step}',
      stage: '$default',
      time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
      timeEpoch: expect.any(Number),
    },
    isBase64Encoded: false,
  })
  expect(event.headers).not.toHaveProperty('cookie')
  expect(event.headers).not.toHaveProperty('connection')
})

test('an event without query, cookies, parameters and body leaves them out', async () => {
  await get('/api/v1/tasks')
  const keys = Object.keys(seen[0] as object)
  expect(keys).toContain('rawQueryString')
  for (const absent of ['queryStringParameters', 'cookies', 'pathParameters', 'body']) {
    expect(keys).not.toContain(absent)
  }
})

test.each([
  ['application/json; charset=utf-8', '{"a":"ä"}', false],
  ['text/plain', 'ä', false],
  ['application/problem+json', '{}', false],
  ['application/x-www-form-urlencoded', 'a=1', true],
  ['application/octet-stream', 'abc', true],
  ['text/plain', Uint8Array.of(0xff, 0xfe), true],
])('a body of %s is delivered as text or base64 as its type says', async (type, body, encoded) => {
  await get('/api/v1/tasks', { method: 'POST', body, headers: { 'content-type': type } })
  const event = seen[0] as { body: string; isBase64Encoded: boolean }
  expect(event.isBase64Encoded).toBe(encoded)
  expect(Buffer.from(event.body, encoded ? 'base64' : 'utf8')).toEqual(Buffer.from(body))
})

test('a Hono app behind handle sees the request as it was sent', async () => {
  const response = await get('/api/v1/echo/a%20b%C3%A9?tag=x&tag=y%26z&empty=', {
    method: 'PUT',
    headers: { cookie: 'session=abc; theme=dark', 'content-type': 'application/json' },
    body: '{"text":"ünï"}',
  })
  expect(await response.json()).toMatchObject({
    method: 'PUT',
    id: 'a bé',
    queries: { tag: ['x', 'y&z'], empty: [''] },
    cookies: { session: 'abc', theme: 'dark' },
    headers: { 'content-type': 'application/json' },
    body: '{"text":"ünï"}',
  })
})

test('bytes come through a Hono app unharmed, both ways', async () => {
  const response = await get('/api/v1/bytes', { method: 'POST', body: BYTES })
  expect(response.headers.get('content-type')).toBe('application/octet-stream')
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(BYTES)
})

test('each cookie that is set becomes a header of its own, and 204 has no body', async () => {
  const response = await get('/api/v1/cookies')
  expect(response.status).toBe(204)
  expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/; HttpOnly', 'b=2; Path=/'])
  expect(response.headers.get('content-length')).toBeNull()
})

test('the most specific route wins, whatever their order', async () => {
  const keyOf = async (path: string) => {
    seen.length = 0
    await get(path)
    return (seen[0] as { routeKey: string }).routeKey
  }
  expect(await keyOf('/api/v1/tasks/latest')).toBe('GET /api/v1/tasks/latest')
  expect(await keyOf('/api/v1/tasks/other')).toBe('GET /api/v1/tasks/{id}')
  expect(await keyOf('/api/v1/tasks/1/steps/2')).toBe('GET /api/v1/tasks/{id}/steps/{step}')
  expect(await keyOf('/api/v1/tasks/1/files/a/b%20c')).toBe('GET /api/v1/tasks/{id}/{rest+}')
  expect(seen[0]).toMatchObject({ pathParameters: { id: '1', rest: 'files/a/b c' } })
})

test.each([
  ['object', 200, 'application/json', '{"ok":true}'],
  ['text', 200, 'application/json', 'just text'],
  ['nothing', 200, 'application/json', 'null'],
  ['event', 200, 'text/plain;charset=utf-8', 'seen'],
  ['malformed', 500, 'application/json', '{"message":"Internal Server Error"}'],
  ['badHeader', 500, 'application/json', '{"message":"Internal Server Error"}'],
  ['throwing', 500, 'application/json', '{"message":"Internal Server Error"}'],
  ['huge', 500, 'application/json', '{"message":"Internal Server Error"}'],
  ['slow', 503, 'application/json', '{"message":"Service Unavailable"}'],
])('a result "%s" becomes a response of %i', async (name, status, type, text) => {
  const response = await get(`/api/v1/results/${name}`)
  expect(response.status).toBe(status)
  expect(response.headers.get('content-type')).toBe(type)
  expect(await response.text()).toBe(text)
})

test('a result sets its headers and cookies, but not the length', async () => {
  const response = await get('/api/v1/results/headers')
  expect(response.status).toBe(201)
  expect(response.headers.get('x-number')).toBe('5')
  expect(response.headers.get('content-length')).toBe('7')
  expect(response.headers.getSetCookie()).toEqual(['c=3', 'd=4; Path=/'])
})

test('a result in base64 is sent as bytes', async () => {
  const response = await get('/api/v1/results/base64')
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(BYTES)
})

const errorOf = async (response: Response) => ({
  status: response.status,
  code: (await response.json()).error.code,
})

test('a path without a route is 404 in our envelope, also where there are local pages', async () => {
  const nowhere = await get('/api/v1/nowhere?token=secret')
  expect(await errorOf(nowhere)).toEqual({ status: 404, code: 'NOT_FOUND' })
  expect(await errorOf(await get('/api/v1/tasks/'))).toEqual({ status: 404, code: 'NOT_FOUND' })
  expect(await (await get('/')).text()).toBe('start page')
})

test('a path with other methods is 405 and names them', async () => {
  const response = await get('/api/v1/tasks', { method: 'DELETE' })
  expect(response.headers.get('allow')).toBe('GET, POST')
  expect(await errorOf(response)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED' })
})

test('only our own names are served, so that no foreign page becomes of our origin', async () => {
  const port = api.port
  for (const host of [
    `localhost:${port}`,
    `127.0.0.1:${port}`,
    `[::1]:${port}`,
    `LOCALHOST:${port}`,
  ]) {
    expect((await raw('/api/v1/tasks', { headers: { host } })).status).toBe(200)
  }
  const foreign = ['evil.example', `evil.example:${port}`, 'localhost', `localhost:${port + 1}`]
  for (const host of foreign) {
    for (const path of ['/api/v1/tasks', '/', '/nowhere']) {
      const { status, text } = await raw(path, { headers: { host } })
      expect(status).toBe(421)
      expect(JSON.parse(text).error.code).toBe('MISDIRECTED_REQUEST')
    }
  }
})

test('a body past 10 MiB and an event past 6 MiB are 413 in our envelope', async () => {
  const post = (bytes: number, type: string) =>
    get('/api/v1/tasks', {
      method: 'POST',
      body: Buffer.alloc(bytes, 'x'),
      headers: { 'content-type': type },
    })
  const tooLarge = { status: 413, code: 'PAYLOAD_TOO_LARGE' }
  expect(await errorOf(await post(10 * MIB + 1, 'text/plain'))).toEqual(tooLarge)
  expect(await errorOf(await post(6 * MIB, 'text/plain'))).toEqual(tooLarge)
  // Base64 makes 5 MiB 6.7.
  expect(await errorOf(await post(5 * MIB, 'application/octet-stream'))).toEqual(tooLarge)
  expect((await post(5 * MIB, 'text/plain')).status).toBe(200)
})

test('a request at the limit of API Gateway’s and of Lambda’s is taken, and one byte more is not', async () => {
  const post = (bytes: number) =>
    get('/api/v1/tasks', {
      method: 'POST',
      body: 'x'.repeat(bytes),
      headers: { 'content-type': 'text/plain' },
    })
  const fits = async (bytes: number) => (await post(bytes)).status === 200
  let [most, tooMany] = [5 * MIB, 6 * MIB]
  // What stands beside the body in the event, such as the headers, takes a part of the 6 MiB.
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2)
    if (await fits(middle)) most = middle
    else tooMany = middle
  }
  expect(6 * MIB - most).toBeLessThan(3_000)
  const { error } = await (await post(tooMany)).json()
  expect(error.message).toContain('hands on to Lambda what has 6291456 bytes as JSON')
})

test('headers at the limit of API Gateway’s are taken, and one byte more is not', async () => {
  const askWith = (bytes: number) =>
    raw('/api/v1/tasks', { headers: { 'x-filler': 'x'.repeat(bytes) } })
  const first = await askWith(MAX_HEADER_BYTES)
  const [, told = ''] = /have (\d+) bytes together/.exec(first.text) ?? []
  const most = 2 * MAX_HEADER_BYTES - Number(told)
  expect((await askWith(most)).status).toBe(200)
  const { status, text } = await askWith(most + 1)
  expect([status, JSON.parse(text).error.code]).toEqual([431, 'HEADERS_TOO_LARGE'])
  expect(text).toContain(`${MAX_HEADER_BYTES + 1} bytes together`)
  expect((await askWith(3 * MAX_HEADER_BYTES)).status).toBe(431)
})

test('a request is reported by its route, never by its URL', async () => {
  await (await get('/api/v1/tasks/task_secret?token=secret')).text()
  await (await get('/public/secret?token=secret')).text()
  await vi.waitFor(() => expect(lines).toHaveLength(2))
  expect(lines).toEqual([
    {
      method: 'GET',
      path: '/api/v1/tasks/{id}',
      status: 200,
      milliseconds: expect.any(Number),
    },
    { method: 'GET', path: '(no route)', status: 404, milliseconds: expect.any(Number) },
  ])
})

test('HEAD has no body, and what is no path is 404', async () => {
  const response = await get('/api/v1/echo/1', { method: 'HEAD' })
  expect(response.status).toBe(200)
  expect(await response.text()).toBe('')
  expect((await raw('*', { method: 'OPTIONS' })).status).toBe(404)
  expect((await raw('http://evil.example/api/v1/tasks', {})).status).toBe(404)
})

test('a port in use is an error that names it and says what to set', async () => {
  const second = startApi({ routes: [], invoke: lambda.invoke, port: api.port })
  await expect(second).rejects.toMatchObject({ code: 'NOT_CONFIGURED' })
  await expect(startApi({ routes: [], invoke: lambda.invoke, port: api.port })).rejects.toThrow(
    new RegExp(`Port ${api.port} is in use.*PORT`),
  )
})

test('close ends at once, with a connection open', async () => {
  const other = await startApi({ routes: [], invoke: lambda.invoke })
  const socket = connect(other.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {})
  const before = Date.now()
  await other.close()
  expect(Date.now() - before).toBeLessThan(500)
})
