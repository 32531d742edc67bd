import { AppError } from '../core/errors.ts'
import { failed, placeOf, refused } from './failure.ts'
import type { FetchInit } from './guarded-fetch.ts'
import { checkUrl } from './target.ts'

/** One request on its way: to the first URL, or to where a redirect leads. */
export type Hop = { url: URL; method: string; headers: Headers; body?: Uint8Array<ArrayBuffer> }

export type FirstHop = {
  hop: Hop
  /** What was asked, with the caller's own signal. */
  request: Request
}

/** What belongs to the connection and not to the request; we speak of these ourselves. */
const CONNECTION_HEADERS = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * What another origin gets of the headers. Keys travel under any name (X-Api-Key, Api-Key, Token), so
 * this lists what holds none, rather than what holds one.
 */
const HARMLESS_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'pragma',
  'range',
  'user-agent',
])
/** What describes a body, and goes where the body goes. */
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type']

const DEFAULT_HEADERS = {
  accept: '*/*',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'user-agent': 'Espalier',
}

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308])

/** Reads what `fetch` was called with, its body included. Nothing is sent. */
export const firstHop = async (
  input: string | URL | Request,
  init: FetchInit,
  { maxRequestBytes }: { maxRequestBytes: number },
): Promise<FirstHop> => {
  const url = URL.parse(input instanceof Request ? input.url : String(input))
  // Without the address: what is wrong with it may be its password.
  if (!url) throw invalid('its address is no absolute URL, such as https://example.com/page')
  checkUrl(url)
  const request = requestOf(input instanceof Request ? input : url, init)
  const headers = new Headers(request.headers)
  for (const name of CONNECTION_HEADERS) headers.delete(name)
  for (const [name, value] of Object.entries(DEFAULT_HEADERS))
    if (!headers.has(name)) headers.set(name, value)
  const { method } = request
  const body = await bodyOf(request, maxRequestBytes)
  return { hop: { url, method, headers, ...(body ? { body } : {}) }, request }
}

/** Where a response sends its request next, if it does; as the fetch standard says. */
export const nextHop = (
  hop: Hop,
  response: { status: number; headers: Headers },
): Hop | undefined => {
  const location = response.headers.get('location')
  if (!REDIRECT_STATUSES.has(response.status) || location === null) return undefined
  // Headers come as bytes, one a character; addresses in them may be UTF-8.
  const url = URL.parse(Buffer.from(location, 'latin1').toString(), hop.url)
  if (!url) throw failed(hop.url, 'redirects to something that is no address.')
  // Before its scheme is looked at: what a fragment holds is never sent.
  if (url.hash === '') url.hash = hop.url.hash
  const headers = new Headers(hop.headers)
  if (url.origin !== hop.url.origin)
    for (const name of hop.headers.keys()) if (!HARMLESS_HEADERS.has(name)) headers.delete(name)
  if (!becomesGet(response.status, hop.method)) return { ...hop, url, headers }
  for (const name of BODY_HEADERS) headers.delete(name)
  return { url, method: 'GET', headers }
}

const becomesGet = (status: number, method: string): boolean =>
  status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST'

const requestOf = (input: URL | Request, init: FetchInit): Request => {
  try {
    const options = { duplex: 'half', ...init }
    return new Request(input, options)
  } catch {
    // What undici says repeats the header's value, so it isn't passed on as a cause either.
    throw invalid('its method, a header or its body is not valid')
  }
}

const bodyOf = async (
  request: Request,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  if (!request.body) return undefined
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes)
      throw refused(
        placeOf(new URL(request.url)),
        `the request has a body of more than ${maxBytes} bytes.`,
      )
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const invalid = (why: string): AppError =>
  new AppError('VALIDATION_ERROR', `This is no request that can be made: ${why}.`)
