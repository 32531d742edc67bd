import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it, test } from 'vitest'
import { addressKind } from '../../../lib/web/address.ts'
import { hostOf } from '../../../lib/web/allowed.ts'

/** IANA's special-purpose registries, as far as they are not globally reachable, and multicast. */
const NOT_GLOBAL_4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '255.255.255.255/32'],
]
const NOT_GLOBAL_6 = [
  ...['::1/128', '::/128', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64'],
  ...['100:0:0:1::/64', '2001::/23', '2001::/32', '2001:2::/48', '2001:db8::/32', '2001:10::/28'],
  ...['2002::/16', '3fff::/20', '5f00::/16', 'fc00::/7', 'fec0::/10', 'ff00::/8'],
  // Not given out: IPv4-compatible, IPv4-translated, and all beyond 2000::/3.
  ...['::/96', '::ffff:0:0:0/96', '4000::/3', '6000::/3', '8000::/3', 'a000::/3', 'c000::/3'],
]
const rangeOf = (text: string) => ipaddr.IPv4.parseCIDR(text)

/** Any address in a range. */
const within = (range: string): fc.Arbitrary<ipaddr.IPv4 | ipaddr.IPv6> => {
  const [network, prefix] = ipaddr.parseCIDR(range)
  const bytes = network.toByteArray()
  return fc.uint8Array({ minLength: bytes.length, maxLength: bytes.length }).map(random =>
    ipaddr.fromByteArray(
      bytes.map((byte, index) => {
        const kept = Math.min(8, Math.max(0, prefix - index * 8))
        const mask = (0xff << (8 - kept)) & 0xff
        return (byte & mask) | ((random[index] ?? 0) & ~mask & 0xff)
      }),
    ),
  )
}

const anyOf = (ranges: string[]) => fc.oneof(...ranges.map(within))

const octets = (address: ipaddr.IPv4 | ipaddr.IPv6) => address.toByteArray()
const numberOf = (address: ipaddr.IPv4) =>
  octets(address).reduce((sum, octet) => sum * 256 + octet, 0)

/** Ways to write one IPv4 address into a URL, all of which the URL parser takes. */
const SPELLINGS: ((address: ipaddr.IPv4) => string)[] = [
  address => address.toString(),
  address => `${address}.`,
  address => String(numberOf(address)),
  address => `0x${numberOf(address).toString(16)}`,
  address => `0${numberOf(address).toString(8)}`,
  address =>
    octets(address)
      .map(octet => `0x${octet.toString(16)}`)
      .join('.'),
  address =>
    octets(address)
      .map(octet => `0${octet.toString(8)}`)
      .join('.'),
  address =>
    octets(address)
      .map(octet => `00000${octet.toString(8)}`)
      .join('.'),
  address => {
    const [a = 0, b = 0, c = 0, d = 0] = octets(address)
    return `${a}.${(b * 256 + c) * 256 + d}`
  },
  address => {
    const [a = 0, b = 0, c = 0, d = 0] = octets(address)
    return `${a}.${b}.${c * 256 + d}`
  },
  // Digits of other scripts and percent-encoding, which the URL parser undoes.
  address =>
    address.toString().replaceAll(/\d/g, digit => String.fromCodePoint(0xff10 + Number(digit))),
  address => address.toString().replaceAll('.', '。'),
  address => address.toString().replaceAll(/\d/g, digit => `%3${digit}`),
]

/** IPv6 addresses that stand for an IPv4 one. */
const EMBEDDINGS: ((address: ipaddr.IPv4) => string)[] = [
  address => `[::ffff:${address}]`,
  address => `[::${address}]`,
  address => `[64:ff9b::${address}]`,
  address => `[64:ff9b:1::${address}]`,
  address => `[2002:${groups(octets(address))}::1]`,
  address => `[2001:0:${groups(octets(address))}::1]`,
  address => `[2001:0:808:808:0:0:${groups(octets(address).map(octet => octet ^ 0xff))}]`,
  address => `[::ffff:0:${address}]`,
]

const groups = ([a = 0, b = 0, c = 0, d = 0]: number[]) =>
  `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`

const kindInUrl = (host: string) => addressKind(hostOf(new URL(`http://${host}/`)))

describe('an IPv4 address', () => {
  it('in a range that is not global is not public, however it is spelt', () => {
    fc.assert(
      fc.property(anyOf(NOT_GLOBAL_4), fc.constantFrom(...SPELLINGS), (address, spell) => {
        expect(kindInUrl(spell(address as ipaddr.IPv4))).not.toBe('public')
      }),
      { numRuns: 2_000 },
    )
  })

  it('that is link-local is forbidden even to the operator, however it is spelt or embedded', () => {
    fc.assert(
      fc.property(
        within('169.254.0.0/16'),
        fc.constantFrom(...SPELLINGS, ...EMBEDDINGS.slice(0, 3), ...EMBEDDINGS.slice(4, 7)),
        (address, spell) => {
          expect(kindInUrl(spell(address as ipaddr.IPv4))).toBe('forbidden')
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('of any kind is not public inside an IPv6 address', () => {
    const any = fc.uint8Array({ minLength: 4, maxLength: 4 })
    fc.assert(
      fc.property(any, fc.constantFrom(...EMBEDDINGS), (bytes, embed) => {
        expect(kindInUrl(embed(new ipaddr.IPv4([...bytes])))).not.toBe('public')
      }),
      { numRuns: 2_000 },
    )
  })

  it('outside all of these is public', () => {
    const ranges = [...NOT_GLOBAL_4, '169.254.0.0/16'].map(rangeOf)
    const any = fc
      .uint8Array({ minLength: 4, maxLength: 4 })
      .map(bytes => new ipaddr.IPv4([...bytes]))
    // For DNS's sinkholes and relays, which answer no HTTP.
    const unserved = ['192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24', '168.63.129.16/32']
    const all = [...ranges, ...unserved.map(rangeOf)]
    fc.assert(
      fc.property(any, address => {
        const special = all.some(range => address.match(range))
        expect(addressKind(address.toString()) === 'public').toBe(!special)
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('an IPv6 address', () => {
  it('in a range that is not global is not public, in each of its spellings', () => {
    const spellings = [
      (address: ipaddr.IPv6) => address.toString(),
      (address: ipaddr.IPv6) =>
        address.parts.map(part => part.toString(16).padStart(4, '0')).join(':'),
      (address: ipaddr.IPv6) => address.toNormalizedString().toUpperCase(),
    ]
    fc.assert(
      fc.property(anyOf(NOT_GLOBAL_6), fc.constantFrom(...spellings), (address, spell) => {
        expect(kindInUrl(`[${spell(address as ipaddr.IPv6)}]`)).not.toBe('public')
        expect(addressKind(spell(address as ipaddr.IPv6))).not.toBe('public')
      }),
      { numRuns: 3_000 },
    )
  })

  it('that is link-local is forbidden even to the operator', () => {
    fc.assert(
      fc.property(within('fe80::/10'), address => {
        expect(addressKind(address.toString())).toBe('forbidden')
      }),
    )
  })
})

test.each([
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  '169.254.169.254',
  '169.254.170.2',
  'fd00:ec2::254',
  'fd00:0ec2:0:0:0:0:0:254',
  'fd00:ec2::23',
  'fd20:ce::254',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::ffff:100.100.100.200',
  'fe80::1%eth0',
  '2606:4700::1%1',
  'example.com',
  '0x7f.1',
  '',
])('%j is forbidden whatever the operator says', address => {
  expect(addressKind(address)).toBe('forbidden')
})

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80b::200e',
  '2001:200::1',
])('%s is public', address => {
  expect(addressKind(address)).toBe('public')
})
