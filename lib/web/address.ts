import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Whom an address belongs to: anyone's on the internet; not global, so that only an operator can let
 * tools there; or a machine's own cloud, whose credentials nobody may ask for.
 */
export type AddressKind = 'public' | 'inside' | 'forbidden'

/**
 * What answers for the cloud itself outside the link-local ranges. Azure's is in a range that is
 * globally routable by its number.
 */
const CLOUD_ADDRESSES = new Set([
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::23',
  'fd00:ec2::253',
  'fd00:ec2::254',
  'fd20:ce::254',
])

/** All that IANA has given out as global unicast of IPv6; the rest is reserved, ::/96 included. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * The kind of an address in its usual spelling, as the URL parser and resolvers write it; anything
 * else is `forbidden`. Whatever is not known to be global is not `public`: IPv6 addresses that hold
 * an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) aren't, whichever one they hold, since
 * what translates them is inside.
 */
export const addressKind = (text: string): AddressKind => {
  // A zone names an interface of this machine, and no public address has one.
  if (isIP(text) === 0 || text.includes('%')) return 'forbidden'
  const address = ipaddr.parse(text)
  if (isOfTheCloud(address)) return 'forbidden'
  if (address.range() !== 'unicast') return 'inside'
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST) ? 'public' : 'inside'
}

const isOfTheCloud = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.range() === 'linkLocal' ||
  CLOUD_ADDRESSES.has(address.toString()) ||
  (address instanceof ipaddr.IPv6 && embeddedIn(address).some(isOfTheCloud))

/** The IPv4 addresses that an IPv6 address would stand for under any of the ways to translate. */
const embeddedIn = (address: ipaddr.IPv6): ipaddr.IPv4[] => {
  const bytes = address.toByteArray()
  const at = (start: number) => new ipaddr.IPv4(bytes.slice(start, start + 4))
  const [first = 0, second = 0] = address.parts
  // Mapped, compatible and NAT64 addresses are told apart by their beginning.
  if (first === 0 || first === 0x64) return [at(12)]
  if (first === 0x2002) return [at(2)]
  // Teredo has the server's, and the client's with all bits turned.
  if (first === 0x2001 && second === 0)
    return [at(4), new ipaddr.IPv4(bytes.slice(12).map(byte => byte ^ 0xff))]
  return []
}
