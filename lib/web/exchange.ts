import type { IncomingMessage, RequestOptions } from 'node:http'
import { isIP } from 'node:net'
import { hostOf } from './allowed.ts'
import { connectionFailure, failed } from './failure.ts'
import type { Hop } from './hop.ts'
import type { Limits } from './limits.ts'
import type { Address } from './target.ts'
import type { Watch } from './watch.ts'

export type Answer = { status: number; statusText: string; headers: Headers; body: IncomingMessage }

const MIN_STATUS = 200
const MAX_STATUS = 599

/**
 * Sends one request to one of these addresses and to no other, and reads the answer's headers. No
 * connection is kept: the next request, whoever makes it, is vetted and connected anew.
 */
export const exchange = (
  hop: Hop,
  addresses: readonly Address[],
  { limits, watch }: { limits: Limits; watch: Watch },
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { url } = hop
    const secure = url.protocol === 'https:'
    // An import of node:http would load all of undici.
    const { request } = secure
      ? process.getBuiltinModule('node:https')
      : process.getBuiltinModule('node:http')
    const outgoing = request(optionsOf(hop, addresses, { limits, watch }))
    const fail = (error: unknown) =>
      reject(watch.signal.aborted ? watch.signal.reason : connectionFailure(url, error))
    outgoing.on('error', fail)
    outgoing.on('upgrade', (_answer, socket) => {
      socket.destroy()
      fail(failed(url, 'wants to go on in another protocol than HTTP.'))
    })
    outgoing.on('socket', socket =>
      socket.once(secure ? 'secureConnect' : 'connect', () =>
        watch.expect({
          url,
          milliseconds: limits.firstByteTimeoutMs,
          problem: 'accepted the connection, and did not answer',
        }),
      ),
    )
    outgoing.on('response', body => {
      watch.rest()
      // Whoever reads the body is told; without a listener an error would end the process.
      body.on('error', () => {})
      try {
        resolve(answerOf(url, body))
      } catch (error) {
        body.destroy()
        fail(error)
      }
    })
    outgoing.end(hop.body)
  })

const optionsOf = (
  { url, method, headers, body }: Hop,
  addresses: readonly Address[],
  { limits, watch }: { limits: Limits; watch: Watch },
): RequestOptions & { servername: string; rejectUnauthorized: true } => {
  const host = hostOf(url)
  return {
    method,
    hostname: host,
    path: url.pathname + url.search,
    ...(url.port === '' ? {} : { port: url.port }),
    headers: {
      ...Object.fromEntries(headers),
      host: url.host,
      ...(body ? { 'content-length': body.byteLength } : {}),
    },
    // The name was resolved, and every address of it vetted: this is all that the connection sees.
    lookup: (_name, { all }, callback) =>
      all
        ? callback(null, [...addresses])
        : callback(null, addresses[0]?.address ?? '', addresses[0]?.family),
    // A certificate is compared with the name, and with the address where there is no name.
    servername: isIP(host) === 0 ? host : '',
    rejectUnauthorized: true,
    // An agent of its own: the global one may go through a proxy, which would resolve the name again.
    agent: false,
    maxHeaderSize: limits.maxHeaderBytes,
    insecureHTTPParser: false,
    signal: watch.signal,
  }
}

const answerOf = (url: URL, body: IncomingMessage): Answer => {
  const status = body.statusCode ?? 0
  if (status < MIN_STATUS || status > MAX_STATUS)
    throw failed(url, `answered with the status ${status}, which HTTP does not have.`)
  const headers = new Headers()
  for (let index = 0; index + 1 < body.rawHeaders.length; index += 2)
    headers.append(body.rawHeaders[index] ?? '', body.rawHeaders[index + 1] ?? '')
  // Parsers take signs in it that a Response refuses.
  const statusText = (body.statusMessage ?? '').replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')
  return { status, statusText, headers, body }
}
