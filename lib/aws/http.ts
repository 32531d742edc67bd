import type { Agent, IncomingMessage, RequestOptions } from 'node:http'

/** A request as it is signed and sent; the names of headers are in lower case. */
export type HttpRequest = {
  method: string
  protocol: string
  hostname: string
  port?: number
  path: string
  query: Record<string, string>
  headers: Record<string, string>
  body: string | Uint8Array
}
export type HttpResponse = {
  status: number
  headers: IncomingMessage['headers']
  body: Uint8Array
}

/** Connections stay open between requests, as many at once as the SDK's clients have. */
const MAX_SOCKETS = 50

const agents = new Map<string, Agent>()

/**
 * Sends a request and reads its response whole. It fails with `TimeoutError` where nothing has
 * come for `silenceMs`, and with Node's own errors where the connection does.
 */
export const exchange = (
  { method, protocol, hostname, port, path, query, headers, body }: HttpRequest,
  { silenceMs, signal }: { silenceMs: number; signal?: AbortSignal | undefined },
): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    const http = builtin(protocol)
    const agent =
      agents.get(protocol) ?? new http.Agent({ keepAlive: true, maxSockets: MAX_SOCKETS })
    agents.set(protocol, agent)
    const options: RequestOptions = {
      method,
      agent,
      hostname,
      port,
      path: path + queryString(query),
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      timeout: silenceMs,
      ...(signal ? { signal } : {}),
    }
    const request = http.request(options, response => {
      const chunks: Uint8Array[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: bytesOf(Buffer.concat(chunks)),
        }),
      )
    })
    request.on('error', reject)
    request.on('timeout', () => request.destroy(timeoutError(silenceMs)))
    request.end(body)
  })

/** The same bytes without what a buffer has of its own: it writes itself otherwise in JSON. */
const bytesOf = ({ buffer, byteOffset, byteLength }: Buffer): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** An `import` of these would also load all that they offer and is not used here, such as `fetch`. */
const builtin = (protocol: string) =>
  protocol === 'http:'
    ? process.getBuiltinModule('node:http')
    : process.getBuiltinModule('node:https')

export const queryString = (query: Record<string, string>): string => {
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** Text in a URL, as signatures have it: all but RFC 3986's unreserved characters escaped. */
export const encode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const timeoutError = (silenceMs: number): Error =>
  Object.assign(new Error(`Nothing has come for ${silenceMs} ms.`), { name: 'TimeoutError' })
