import { describe, expect, test } from 'vitest'
import { guardedFetch } from '../../../lib/web/guarded-fetch.ts'
import { failure } from './failure.ts'
import { allow, resolving, startServer } from './server.ts'

describe('ESPALIER_FETCH_ALLOW', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1:PORT', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['127.0.0.1', '0x7f.1'],
    ['::1', '[::1]'],
    ['[::1]:PORT', '[0:0::1]'],
    ['LocalHost', 'localhost'],
    ['wiki.internal:PORT', 'wiki.internal'],
    ['wiki.internal', 'WIKI.internal.'],
    [' ,wiki.internal , other.example,', 'wiki.internal'],
  ])('%j lets tools reach http://%s', async (entry, host) => {
    const server = await startServer()
    allow(entry.replace('PORT', String(server.port)))
    const { resolve } = resolving({ 'wiki.internal': ['127.0.0.1'], localhost: ['127.0.0.1'] })
    const response = await guardedFetch({ resolve })(`http://${host}:${server.port}/`)
    expect(await response.text()).toBe('reached')
  })

  test.each([
    ['127.0.0.1:1', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.2'],
    ['127.0.0.1', 'wiki.internal'],
    ['wiki.internal', '127.0.0.1'],
    ['internal', 'wiki.internal'],
    ['wiki.internal', 'a.wiki.internal'],
    ['wiki.internal', 'wiki.internal.evil.example'],
    ['', '127.0.0.1'],
  ])('%j does not let them reach http://%s', async (entry, host) => {
    const server = await startServer()
    allow(entry)
    const { resolve } = resolving({
      'wiki.internal': ['127.0.0.1'],
      'a.wiki.internal': ['127.0.0.1'],
      'wiki.internal.evil.example': ['127.0.0.1'],
    })
    const fetched = guardedFetch({ resolve })(`http://${host}:${server.port}/`)
    expect((await failure(fetched)).code).toBe('FETCH_REFUSED')
    expect(server.connections()).toBe(0)
  })

  test.each([
    'http://wiki.internal',
    'a/b',
    'user@host',
    '*.internal',
    '10.0.0.0/8',
    'host:99999',
    'a b',
  ])('with %j in it is an error that says what to write', async entry => {
    const server = await startServer()
    allow(entry)
    const error = await failure(guardedFetch()(server.url))
    expect(error.code).toBe('NOT_CONFIGURED')
    expect(error.message).toContain('Write names or addresses')
    expect(server.connections()).toBe(0)
  })
})
