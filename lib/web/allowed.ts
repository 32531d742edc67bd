import { isIPv6 } from 'node:net'
import { optionalConfig, variableOf } from '../core/config.ts'
import { AppError } from '../core/errors.ts'

/** A host inside that an operator lets tools reach, on one port or on all. */
export type Allowed = { host: string; port?: number }

const SECURE_PORT = 443
const PLAIN_PORT = 80
const MAX_PORT = 65_535

/** A name, an IPv4 address or an IPv6 address in brackets, and a port. */
const ENTRY = /^(\[[^\]]+\]|[^:[\]/@?#\\\s%*]+)(?::(\d{1,5}))?$/

/** The hosts in ESPALIER_FETCH_ALLOW; NOT_CONFIGURED names an entry that is none. */
export const allowedHosts = (): Allowed[] =>
  (optionalConfig('fetchAllow') ?? '')
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '')
    .map(parse)

/** Whether a URL's own host and port are among the allowed: names are never compared by address. */
export const isAllowed = (url: URL, allowed: readonly Allowed[]): boolean =>
  allowed.some(
    ({ host, port }) => host === hostOf(url) && (port === undefined || port === portOf(url)),
  )

/** A URL's host without brackets, and without the dot that may end a name. */
export const hostOf = ({ hostname }: URL): string =>
  hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')

export const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? SECURE_PORT : PLAIN_PORT) : Number(port)

const parse = (entry: string): Allowed => {
  const [, name, port] = ENTRY.exec(isIPv6(entry) ? `[${entry}]` : entry) ?? []
  const url = name === undefined ? null : URL.parse(`http://${name}`)
  if (!url || hostOf(url) === '' || Number(port ?? 0) > MAX_PORT)
    throw new AppError(
      'NOT_CONFIGURED',
      `${variableOf('fetchAllow')} holds "${entry}", which is no host. Write names or addresses, ` +
        'each with a port if you like, separated by commas: wiki.example.org:8080, 10.0.0.7',
    )
  return port === undefined ? { host: hostOf(url) } : { host: hostOf(url), port: Number(port) }
}
