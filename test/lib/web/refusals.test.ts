import { describe, expect, it, test } from 'vitest'
import { guardedFetch } from '../../../lib/web/guarded-fetch.ts'
import { FOREIGN_PORTS as BAD_PORTS } from '../../../lib/web/ports.ts'
import { failure } from './failure.ts'
import { addressOf, allow, resolving, startServer } from './server.ts'

describe('what this machine answers', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.255.255.254',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '017700000001',
    '0177.0.0.01',
    '１２７.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '0',
    '0.0.0.0',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost..',
    'app.localhost',
  ])('is not fetched from http://%s', async host => {
    const server = await startServer()
    const error = await failure(guardedFetch()(`http://${host}:${server.port}/?key=s3cret`))
    expect(error.code).toBe('FETCH_REFUSED')
    expect(error.message).not.toContain('s3cret')
    expect(server.connections()).toBe(0)
  })

  it('would be reached in these spellings, were it not for the guard', async () => {
    const server = await startServer()
    for (const host of ['127.1', '2130706433', '0x7f.0.0.1', '0', '[::1]', '[::ffff:7f00:1]'])
      expect(await (await fetch(`http://${host}:${server.port}/`)).text()).toBe('reached')
    expect(server.connections()).toBeGreaterThan(0)
  })
})

describe('a name', () => {
  test.each([
    ['loopback', '127.0.0.1'],
    ['private', '10.0.0.1'],
    ['IPv6 loopback', '::1'],
    ['mapped', '::ffff:127.0.0.1'],
    ['unique local', 'fd12:3456::1'],
    ['shared', '100.64.0.1'],
    ['metadata', '169.254.169.254'],
    ['zoned', 'fe80::1%2'],
  ])('that resolves to a %s address is refused, beside a public one too', async (_, address) => {
    const server = await startServer()
    for (const addresses of [[address], ['93.184.215.14', address], [address, '93.184.215.14']]) {
      const { resolve } = resolving({ 'evil.example': addresses })
      const error = await failure(guardedFetch({ resolve })(`http://evil.example:${server.port}/`))
      expect(error.code).toBe('FETCH_REFUSED')
      expect(error.message).not.toContain(address)
    }
    expect(server.connections()).toBe(0)
  })

  it('that means something inside is refused without asking for its address', async () => {
    const { resolve, asked } = resolving({})
    const names = ['printer.local', 'db.internal', 'nas.home.arpa', 'localhost.localdomain']
    for (const name of [...names, 'metadata.google.internal', 'metadata', 'instance-data'])
      expect((await failure(guardedFetch({ resolve })(`http://${name}/`))).code).toBe(
        'FETCH_REFUSED',
      )
    expect(asked).toEqual([])
  })

  it('that changes its answer is asked once: what was vetted is what is connected to', async () => {
    const server = await startServer()
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['10.0.0.1']]
    let asked = 0
    const resolve = async () => (answers[asked++] ?? []).map(addressOf)
    allow(`rebind.example:${server.port}`)
    const response = await guardedFetch({ resolve })(`http://rebind.example:${server.port}/`)
    expect(await response.text()).toBe('reached')
    expect(asked).toBe(1)
  })

  it('that was public and turns private is never connected to at its new address', async () => {
    const server = await startServer()
    // A public address that nobody routes; the second answer would be this machine.
    const answers = [['192.0.1.1'], ['127.0.0.1']]
    let asked = 0
    const resolve = async () => (answers[asked++] ?? ['127.0.0.1']).map(addressOf)
    const fetch = guardedFetch({ resolve, limits: { connectTimeoutMs: 300 } })
    expect((await failure(fetch(`http://rebind.example:${server.port}/`))).code).toBe(
      'FETCH_FAILED',
    )
    expect(asked).toBe(1)
    expect((await failure(fetch(`http://rebind.example:${server.port}/`))).code).toBe(
      'FETCH_REFUSED',
    )
    expect(server.connections()).toBe(0)
  })

  it('is vetted anew when a redirect leads back to it', async () => {
    const server = await startServer((request, response) =>
      response.writeHead(302, { location: `http://${request.headers.host}/next` }).end(),
    )
    const answers = [['127.0.0.1'], ['169.254.169.254']]
    const resolve = async () => (answers.shift() ?? []).map(addressOf)
    allow(`rebind.example:${server.port}`)
    const error = await failure(guardedFetch({ resolve })(`http://rebind.example:${server.port}/`))
    expect(error.code).toBe('FETCH_REFUSED')
    expect(server.connections()).toBe(1)
  })

  it('without an address, or that can’t be resolved, is said to be so', async () => {
    const { resolve } = resolving({})
    expect((await failure(guardedFetch({ resolve })('http://nowhere.example/'))).message).toBe(
      'http://nowhere.example has a name without an address.',
    )
    const broken = async () => Promise.reject(new Error('ENOTFOUND'))
    expect((await failure(guardedFetch({ resolve: broken })('http://x.example/'))).message).toBe(
      'http://x.example has a name that can’t be resolved. Is it spelt right?',
    )
  })
})

describe('an address', () => {
  test.each(['http://user:hunter2@', 'http://user@', 'https://:hunter2@'])(
    'with credentials (%s) is refused, and they are not repeated',
    async start => {
      const server = await startServer()
      allow(`127.0.0.1:${server.port}`)
      for (const input of [
        `${start}127.0.0.1:${server.port}/?token=s3cret`,
        new URL(`${start}127.0.0.1:${server.port}/?token=s3cret`),
      ]) {
        const error = await failure(guardedFetch()(input))
        expect(error.code).toBe('FETCH_REFUSED')
        expect(`${error.message} ${error.cause}`).not.toMatch(/user:|hunter2|s3cret/)
      }
      expect(server.connections()).toBe(0)
    },
  )

  test.each([
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'gopher://127.0.0.1:70/',
    'data:text/plain,hello',
    'blob:http://127.0.0.1/1',
    'javascript:alert(1)',
    'ws://127.0.0.1/',
    'about:blank',
  ])('of another scheme (%s) is refused', async url => {
    expect((await failure(guardedFetch()(url))).code).toBe('FETCH_REFUSED')
  })

  test.each([
    '',
    '/page',
    'example.com',
    'http://',
    'http://a b/',
    'http://[::1',
    'http://[fe80::1%25eth0]/',
  ])('that is none (%j) is said to be none', async url => {
    expect((await failure(guardedFetch()(url))).code).toBe('VALIDATION_ERROR')
  })

  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/latest/meta-data/',
    'http://2852039166/',
    'http://[::ffff:169.254.169.254]/',
    'http://metadata.google.internal/computeMetadata/v1/',
  ])('of a cloud’s metadata (%s) is refused even where the operator allows it', async url => {
    allow(new URL(url).hostname)
    const { resolve } = resolving({ 'metadata.google.internal': ['169.254.169.254'] })
    const error = await failure(guardedFetch({ resolve })(url))
    expect(error.code).toBe('FETCH_REFUSED')
    expect(error.message).toMatch(/metadata/)
  })
})

describe('a port', () => {
  it('of another protocol is refused, as fetch itself refuses it', async () => {
    const { resolve, asked } = resolving({})
    for (let port = 1; port <= 11_000; port++) {
      // A name that can't be resolved: what gets past the port fails there.
      const url = `http://nowhere.invalid:${port}/`
      const error = await failure(guardedFetch({ resolve })(url))
      expect([port, error.code]).toEqual([
        port,
        BAD_PORTS.has(port) ? 'FETCH_REFUSED' : 'FETCH_FAILED',
      ])
    }
    expect(asked).toHaveLength(11_000 - BAD_PORTS.size)
    for (const port of BAD_PORTS) {
      const theirs = await fetch(`http://127.0.0.1:${port}/`).catch(error => error.cause.message)
      expect([port, theirs]).toEqual([port, 'bad port'])
    }
  })
})

describe('a redirect', () => {
  test.each([
    (port: number) => `http://localhost:${port}/`,
    (port: number) => `http://[::1]:${port}/`,
    (port: number) => `//2130706434:${port}/`,
    (port: number) => `http://inner.example:${port}/`,
    (port: number) => `http://user:hunter2@127.0.0.1:${port}/`,
    () => 'http://169.254.169.254/latest/meta-data/',
    () => 'file:///etc/passwd',
    () => 'data:text/html,hello',
    () => 'gopher://127.0.0.1/',
  ])(
    'from an allowed host to a forbidden one is refused before it is connected to',
    async target => {
      const inner = await startServer()
      const outer = await startServer((_, response) =>
        response.writeHead(302, { location: target(inner.port) }).end(),
      )
      allow(`127.0.0.1:${outer.port}`, `127.0.0.1:${inner.port}`)
      const { resolve } = resolving({ 'inner.example': ['127.0.0.1'] })
      const error = await failure(guardedFetch({ resolve })(`${outer.url}/`))
      expect(error.code).toBe('FETCH_REFUSED')
      expect(error.message).not.toContain('hunter2')
      expect(outer.connections()).toBe(1)
      expect(inner.connections()).toBe(0)
    },
  )
})
