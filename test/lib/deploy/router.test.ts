import { describe, expect, it, vi } from 'vitest'
import { handler } from '../../../functions/admin/openapi.ts'
import { routeTable } from '../../../functions/routes.ts'
import {
  routerSecretOf,
  STREAM_READ_TIMEOUT_SECONDS,
  splitRoutes,
  streamPath,
  UNCACHED_ERRORS,
  viewerRequestCode,
} from '../../../lib/deploy/router.ts'
import { HEARTBEAT_MS } from '../../../lib/http/follow-task.ts'
import { ROUTER_HEADER, VIEWER_HEADER } from '../../../lib/http/stranger.ts'
import { CARRIED_AUTHORIZATION } from '../../../lib/http/streaming-handler.ts'

const { functions, routes } = await routeTable()
const { gateway, streams } = splitRoutes({ functions, routes })
const code = viewerRequestCode(streams, 'the secret')

type Headers = Record<string, { value: string }>

/** What the Router makes of a request. */
const pass = (method: string, uri: string, headers: Headers = {}) => {
  const event = { viewer: { ip: '192.0.2.7' }, request: { method, uri, headers: { ...headers } } }
  new Function('event', code)(event)
  return event.request
}

const authorization = { value: 'Bearer esp_a-key' }
const STREAM = '/api/v1/tasks/task_01/stream'

describe('the Router', () => {
  it('is the way to what streams, and the gateway that to all else', () => {
    expect(streams.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/v1/tasks/{id}/stream',
    ])
    expect([...gateway, ...streams]).toHaveLength(routes.length)
  })

  it('leads a stream to its function, with the caller’s key under a name that is not signed over', () => {
    const { uri, headers } = pass('GET', STREAM, { authorization })
    const path = streamPath({ name: 'admin-task-stream' })
    expect(uri).toBe(`${path}${STREAM}`)
    // What the function's route takes off again.
    expect(uri.replace(new RegExp(`^${path}`), '')).toBe(STREAM)
    expect(headers).not.toHaveProperty('authorization')
    expect(headers[CARRIED_AUTHORIZATION]).toEqual(authorization)
  })

  it.each([
    ['POST', STREAM],
    ['GET', `${STREAM}/more`],
    ['GET', '/api/v1/tasks/a/b/stream'],
    ['GET', '/api/v1/tasks/task_01'],
    ['GET', '/docs'],
  ])('leaves %s %s to the gateway as it is', (method, uri) => {
    const request = pass(method, uri, { authorization })
    expect(request.uri).toBe(uri)
    expect(request.headers.authorization).toEqual(authorization)
    expect(request.headers).not.toHaveProperty(CARRIED_AUTHORIZATION)
  })

  it('says who asks, whatever the caller says', () => {
    const made = { value: 'made up' }
    for (const uri of [STREAM, '/sign-in']) {
      const { headers } = pass('GET', uri, {
        [ROUTER_HEADER]: made,
        [VIEWER_HEADER]: made,
        [CARRIED_AUTHORIZATION]: made,
      })
      expect(headers[ROUTER_HEADER]).toEqual({ value: 'the secret' })
      expect(headers[VIEWER_HEADER]).toEqual({ value: '192.0.2.7' })
      expect(headers).not.toHaveProperty(CARRIED_AUTHORIZATION)
    }
  })

  it('proves itself with what nobody can make who has not its keys', () => {
    expect(routerSecretOf('v1:a')).toMatch(/^[0-9a-f]{64}$/)
    expect(routerSecretOf('v1:a')).not.toBe(routerSecretOf('v1:b'))
  })

  it('bears the silence of a stream, and keeps no refusal for others', () => {
    expect(STREAM_READ_TIMEOUT_SECONDS * 1_000).toBeGreaterThanOrEqual(HEARTBEAT_MS * 2)
    // Of our statuses those that CloudFront would keep.
    expect(UNCACHED_ERRORS).toEqual(expect.arrayContaining([400, 403, 404, 405, 500, 502, 503]))
  })

  it('is the address that the reference names, and not that of the gateway behind it', async () => {
    vi.stubEnv('ESPALIER_PUBLIC_URL', 'https://espalier.example')
    const serversFor = async (domainName: string) => {
      const requestContext = { domainName, http: { method: 'GET' } }
      const rawPath = '/api/v1/openapi.json'
      const event = { version: '2.0', rawPath, rawQueryString: '', headers: {}, requestContext }
      const { body } = (await handler(event as never)) as { body: string }
      return JSON.parse(body).servers
    }
    const behind = 'abc.execute-api.eu-central-1.amazonaws.com'
    expect(await serversFor(behind)).toEqual([{ url: 'https://espalier.example' }])
    expect(await serversFor('own.example')).toEqual([{ url: 'https://own.example' }])
    vi.unstubAllEnvs()
  })

  it('runs lines that fit beside SST’s own into the 10 KB of a CloudFront function', () => {
    // SST 4.17's are 8.4 KB long.
    expect(code.length).toBeLessThan(1_600)
  })
})
