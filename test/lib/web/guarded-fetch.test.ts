import { execFile } from 'node:child_process'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, it, test } from 'vitest'
import { type Fetch, guardedFetch } from '../../../lib/web/guarded-fetch.ts'
import { failure } from './failure.ts'
import { allow, startServer } from './server.ts'

/** A server that says what it was asked. */
const startEcho = () =>
  startServer(async (request, response) => {
    const { method, url, headers } = request
    response.writeHead(201, 'Made', { 'content-type': 'application/json', 'x-seen': 'yes' })
    response.end(JSON.stringify({ method, url, headers, body: await text(request) }))
  })

describe('the guarded fetch', () => {
  it('takes what fetch takes, and answers as fetch does', async () => {
    allow('127.0.0.1')
    const server = await startEcho()
    const fetches: Fetch[] = [fetch, guardedFetch()]
    const calls: Parameters<Fetch>[] = [
      [`${server.url}/a?b=c#d`],
      [new URL(`${server.url}/ä`)],
      [new Request(`${server.url}/r`, { method: 'PUT', body: 'soil', headers: { 'x-a': 'b' } })],
      [new Request(`${server.url}/r`, { headers: { 'x-a': 'b' } }), { method: 'DELETE' }],
      [server.url, { method: 'POST', body: new URLSearchParams({ a: 'b c' }) }],
      [server.url, { method: 'post', body: '{"a":1}', headers: [['content-type', 'text/x']] }],
      [server.url, { method: 'POST', body: new Uint8Array([1, 2, 3]) }],
      [server.url, { method: 'POST' }],
    ]
    for (const [input, init] of calls) {
      const [theirs, ours] = await Promise.all(
        fetches.map(async send => {
          const response = await send(input instanceof Request ? input.clone() : input, init)
          const seen = JSON.parse(await response.text())
          const { host, 'x-a': own, 'content-type': type, 'content-length': length } = seen.headers
          const { status, statusText, ok, url, redirected } = response
          const header = response.headers.get('x-seen')
          return {
            ...{ status, statusText, ok, url, redirected, header },
            seen: { ...seen, headers: { host, own, type, length } },
          }
        }),
      )
      expect(ours).toEqual(theirs)
    }
  })

  it('sends a form’s files', async () => {
    allow('127.0.0.1')
    const server = await startEcho()
    const form = new FormData()
    form.set('file', new File(['soil'], 'soil.txt'))
    const response = await guardedFetch()(server.url, { method: 'POST', body: form })
    expect(await response.text()).toContain('filename=\\"soil.txt\\"')
  })

  it('keeps several cookies apart, and answers 204 and 304 without a body', async () => {
    allow('127.0.0.1')
    const server = await startServer((request, response) =>
      response.writeHead(Number(request.url?.slice(1)), { 'set-cookie': ['a=1', 'b=2'] }).end(),
    )
    for (const status of [204, 205, 304]) {
      const response = await guardedFetch()(`${server.url}/${status}`)
      expect([response.status, response.body]).toEqual([status, null])
      expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    }
  })

  test.each([
    { method: 'GET', body: 'x' },
    { method: 'CONNECT' },
    { method: 'NO WAY' },
    { headers: { 'x-key': 's3cret\r\nx: y' } },
    { headers: { 'bad name': 's3cret' } },
  ])('says that %j is no request, without its headers', async init => {
    const error = await failure(guardedFetch()('http://127.0.0.1:9/?key=s3cret', init))
    expect(error.code).toBe('VALIDATION_ERROR')
    expect(`${error.message} ${error.cause}`).not.toContain('s3cret')
  })

  it('goes to no proxy, whatever the environment says', async () => {
    const proxy = await startServer()
    const server = await startServer((_, response) => response.end('straight'))
    const script = `
      const { guardedFetch } = await import('${path.resolve('lib/web/guarded-fetch.ts')}')
      const response = await guardedFetch()('${server.url}/')
      process.stdout.write(await response.text())`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', script],
      {
        env: {
          ...process.env,
          ESPALIER_FETCH_ALLOW: `127.0.0.1:${server.port}`,
          NODE_USE_ENV_PROXY: '1',
          HTTP_PROXY: proxy.url,
          http_proxy: proxy.url,
        },
      },
    )
    expect(stdout).toBe('straight')
    expect(proxy.connections()).toBe(0)
  })
})
