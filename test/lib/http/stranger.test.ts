import { afterEach, describe, expect, it, vi } from 'vitest'
import { addressOf, ROUTER_HEADER, VIEWER_HEADER } from '../../../lib/http/stranger.ts'

/** What of an event says where a request comes from. */
const from = (sourceIp: string, headers: Record<string, string> = {}) =>
  addressOf({ env: { event: { headers, requestContext: { http: { sourceIp } } } as never } })

it('an address of IPv4 is one caller’s, also where IPv6 says it', () => {
  expect(from('192.0.2.1')).toBe('192.0.2.1')
  expect(from('::ffff:192.0.2.1')).toBe('192.0.2.1')
  expect(from('192.0.2.2')).not.toBe(from('192.0.2.1'))
})

it('all addresses of a network of IPv6 are one caller’s, and no others', () => {
  expect(from('2001:db8:1:2::1')).toBe(from('2001:db8:1:2:ffff:ffff:ffff:ffff'))
  expect(from('2001:0db8:0001:0002::1')).toBe(from('2001:db8:1:2::1'))
  expect(from('2001:db8:1:3::1')).not.toBe(from('2001:db8:1:2::1'))
})

it('who comes from nowhere that is known has a share, too', () => {
  expect(addressOf({ env: {} })).toBe('')
  expect(from('made up')).toBe('made up')
})

describe('behind the Router', () => {
  const viewer = '192.0.2.7'
  const edge = '198.51.100.1'
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it('who asks is whom the Router sees', () => {
    vi.stubEnv('ESPALIER_ROUTER_SECRET', 'a secret')
    const headers = { [ROUTER_HEADER]: 'a secret', [VIEWER_HEADER]: viewer }
    expect(from(edge, headers)).toBe(viewer)
  })

  it('nobody else may say who asks', () => {
    const made = { [ROUTER_HEADER]: 'made up', [VIEWER_HEADER]: viewer }
    expect(from(edge, { ...made, [ROUTER_HEADER]: '' })).toBe(edge)
    expect(from(edge, made)).toBe(edge)
    vi.stubEnv('ESPALIER_ROUTER_SECRET', 'a secret')
    expect(from(edge, made)).toBe(edge)
    expect(from(edge, { [VIEWER_HEADER]: viewer })).toBe(edge)
  })
})
