import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { addressKind } from './address.ts'
import { type Allowed, hostOf, isAllowed, portOf } from './allowed.ts'
import { failed, placeOf, refused } from './failure.ts'
import { FOREIGN_PORTS } from './ports.ts'

/** An address that a connection may go to. */
export type Address = { address: string; family: number }

/** All addresses of a name, of both families. */
export type Resolve = (name: string) => Promise<Address[]>

/** Names that only ever mean something inside a machine or a network (RFC 6761, 6762, 8375). */
const INSIDE_DOMAINS = ['localhost', 'localdomain', 'local', 'internal', 'home.arpa']
/** Where clouds tell a machine its credentials, by name. */
const CLOUD_NAMES = new Set([
  'metadata',
  'metadata.goog',
  'metadata.google.internal',
  'metadata.azure.internal',
  'instance-data',
  'instance-data.ec2.internal',
])

/**
 * Throws FETCH_REFUSED for a URL that may not be fetched whatever its name resolves to; the message
 * repeats no user name and no password.
 */
export const checkUrl = (url: URL): void => {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refused(`A ${url.protocol} address`, 'only http: and https: are.')
  if (url.username !== '' || url.password !== '')
    throw refused(
      placeOf(url),
      'its address holds a user name or a password. Leave them out of it.',
    )
}

/**
 * The addresses that a URL's host has, all of which may be connected to, or FETCH_REFUSED. One
 * forbidden address refuses the name, even where a public one stands beside it: which of them is
 * connected to depends on which answers first, so whoever owns the name could choose; and no honest
 * site mixes them.
 */
export const vet = async (
  url: URL,
  {
    resolve = resolveBySystem,
    allowed,
  }: { resolve?: Resolve | undefined; allowed: readonly Allowed[] },
): Promise<Address[]> => {
  checkUrl(url)
  const host = hostOf(url)
  const mayBeInside = isAllowed(url, allowed)
  if (CLOUD_NAMES.has(host)) throw refused(placeOf(url), 'it is a cloud’s metadata service.')
  if (!mayBeInside && INSIDE_DOMAINS.some(domain => host === domain || host.endsWith(`.${domain}`)))
    throw refused(placeOf(url), NOT_PUBLIC)
  if (!mayBeInside && FOREIGN_PORTS.has(portOf(url)))
    throw refused(placeOf(url), 'its port is one of another protocol than HTTP.')
  const addresses = await addressesOf(url, host, resolve)
  for (const { address } of addresses) {
    const kind = addressKind(address)
    if (kind === 'forbidden')
      throw refused(placeOf(url), 'it leads to a link-local or metadata address.')
    if (kind === 'inside' && !mayBeInside) throw refused(placeOf(url), NOT_PUBLIC)
  }
  return addresses
}

/** Says nothing of which address it is: that would map a network for whoever asks. */
const NOT_PUBLIC = 'it is not on the public internet. Only the operator can allow it.'

const addressesOf = async (url: URL, host: string, resolve: Resolve): Promise<Address[]> => {
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  const addresses = await resolve(host).catch((error: unknown) => {
    throw failed(url, 'has a name that can’t be resolved. Is it spelt right?', { cause: error })
  })
  if (addresses.length === 0) throw failed(url, 'has a name without an address.')
  return addresses
}

const resolveBySystem: Resolve = name => lookup(name, { all: true, order: 'verbatim' })
