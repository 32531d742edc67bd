import { expect, it } from 'vitest'
import { addressOf } from '../../../lib/http/stranger.ts'

/** What of an event says where a request comes from. */
const from = (sourceIp: string) =>
  addressOf({ env: { event: { requestContext: { http: { sourceIp } } } as never } })

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
