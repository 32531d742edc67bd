import { request as rawRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PACKAGE_FILES } from '../../../lib/http/reference-page.ts'
import { startTestStack, type TestStack } from '../../stack.ts'

let stack: TestStack & { stop: () => Promise<void> }
beforeAll(async () => {
  stack = await startTestStack()
})
afterAll(() => stack.stop())

const open = (path: string, method = 'GET', headers: Record<string, string> = {}) =>
  stack.request(method, path, { key: null, headers })

/** A path as it is written: a URL's own parser would take the dots out. */
const statusOf = (path: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const { hostname, port } = new URL(stack.url)
    rawRequest({ hostname, port, path }, response => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })

const FILES = ['start.js', ...Object.keys(PACKAGE_FILES)]

describe('the reference page', () => {
  it('needs nothing but its own files, without a key', async () => {
    const { status, headers, text } = await open('/docs')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const linked = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link ?? '')
    expect(linked.toSorted()).toEqual(
      [...FILES.map(file => `docs/${file}`), 'api/v1/openapi.json'].toSorted(),
    )
    for (const link of linked) expect((await open(`/${link}`)).status).toBe(200)
    expect(await (await open('/docs/start.js')).text).toContain("url: 'api/v1/openapi.json'")
  })

  it('runs scripts of our own origin only, and none that stands in a page', async () => {
    const { headers, text } = await open('/docs')
    const policy = headers.get('content-security-policy')?.split('; ') ?? []
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]),
    )
    expect(policy.join()).not.toContain('unsafe')
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|javascript:|style=|<style/)
  })

  it.each(['/docs', ...FILES.map(file => `/docs/${file}`), '/api/v1/openapi.json'])(
    '%s is not sent again to who has it',
    async path => {
      const first = await open(path)
      expect(first.text.length).toBeGreaterThan(0)
      const again = await open(path, 'GET', { 'if-none-match': first.headers.get('etag') ?? '' })
      expect([again.status, again.text]).toEqual([304, ''])
    },
  )

  it.each(['/docs', ...FILES.map(file => `/docs/${file}`)])('%s answers HEAD', async path => {
    const { status, headers, text } = await open(path, 'HEAD')
    expect([status, text]).toEqual([200, ''])
    expect(headers.get('etag')).toBe((await open(path)).headers.get('etag'))
  })

  it.each([
    ...['/docs/index.html', '/docs/swagger-ui.js', '/docs/swagger-ui-bundle.js.map', '/docs/'],
    ...['/docs/package.json', '/docs/../package.json', '/docs/..%2fpackage.json', '/docs/%2e%2e'],
    ...['/docs/..%5cpackage.json', '/docs/swagger-ui.css/..', '/docs/constructor', '/docs/a/b'],
    ...['/docs/swagger-ui.css%00.png', '/docs//etc/passwd', '/docs/%252e%252e%252fpackage.json'],
  ])('there is no %s', async path => {
    expect(await statusOf(path)).toBe(404)
  })
})

describe('the document', () => {
  it('names the address that it was asked at', async () => {
    const { headers, body } = await open('/api/v1/openapi.json')
    expect(headers.get('content-type')).toBe('application/json')
    expect(body).toMatchObject({ openapi: '3.1.0', servers: [{ url: stack.url }] })
    const other = stack.url.replace('127.0.0.1', 'localhost')
    const answer = await fetch(`${other}/api/v1/openapi.json`)
    expect(await answer.json()).toMatchObject({ servers: [{ url: other }] })
    expect(answer.headers.get('etag')).not.toBe(headers.get('etag'))
  })

  it('is read without a single read of what is stored', async () => {
    const before = stack.costs()
    await open('/api/v1/openapi.json')
    const { dynamodb, s3Requests } = stack.costs()
    expect({ dynamodb, s3Requests }).toEqual({
      dynamodb: before.dynamodb,
      s3Requests: before.s3Requests,
    })
  })
})
