import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Hono } from 'hono'
import type { LambdaContext } from 'hono/aws-lambda'
import type { Env } from './app.ts'

/** What a function URL (payload format 2.0) and our own gateway give, as far as it is read. */
export type StreamEvent = {
  rawPath: string
  rawQueryString: string
  cookies?: string[]
  headers: Record<string, string>
  requestContext: { http: { method: string; sourceIp: string } }
}

export type StreamingHandler = (
  event: StreamEvent,
  responseStream: Writable,
  context: LambdaContext,
) => Promise<void>

/** What Lambda's runtime for Node has as a global; the local runner has it, too. */
export type AwsLambda = {
  streamifyResponse: (handler: StreamingHandler) => StreamingHandler
  HttpResponseStream: {
    from: (
      responseStream: Writable,
      metadata: { statusCode: number; headers: Record<string, string>; cookies: string[] },
    ) => Writable
  }
}

/** Also where nothing streams an SDK keeps things of its own under that name. */
const awsLambda = (): Partial<AwsLambda> =>
  (globalThis as { awslambda?: Partial<AwsLambda> }).awslambda ?? {}

/**
 * The app as the handler of a Lambda that streams. Status and headers go first, then the body as it
 * comes. Lambda tells nobody that a client has gone; where a gateway closes the stream, as the local
 * one does, the body is cancelled.
 *
 * Hono has such a handler as well; it asks for the runtime's global as it loads, which is there
 * neither for the table of routes nor for tests, and it cancels nothing.
 */
export const streamingHandlerOf = (app: Hono<Env>): StreamingHandler => {
  const handle: StreamingHandler = async (event, responseStream, lambdaContext) => {
    const response = await app.fetch(requestOf(event), { event: event as never, lambdaContext })
    const stream = httpResponseStream().from(responseStream, metadataOf(response))
    // The first write brings status and headers, also where it is empty.
    stream.write('')
    const body = response.body ? Readable.fromWeb(response.body as never) : Readable.from([])
    await pipeline(body, stream).catch(error => {
      if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    })
  }
  // Loaded to be looked at, there is no runtime.
  return awsLambda().streamifyResponse?.(handle) ?? handle
}

const httpResponseStream = () => {
  const found = awsLambda().HttpResponseStream
  if (!found) throw new TypeError('There is no Lambda runtime here that streams.')
  return found
}

const metadataOf = ({ status, headers }: Response) => ({
  statusCode: status,
  headers: Object.fromEntries([...headers].filter(([name]) => name !== 'set-cookie')),
  cookies: headers.getSetCookie(),
})

/**
 * Where the caller's own `Authorization` stands when it comes through the Router: what that sends to
 * a function it signs, in this very header.
 */
export const CARRIED_AUTHORIZATION = 'x-espalier-authorization'
const SIGNATURE = /^AWS4-HMAC-SHA256 /

const requestOf = ({ rawPath, rawQueryString, cookies, headers, requestContext }: StreamEvent) => {
  const { authorization, [CARRIED_AUTHORIZATION]: carried, ...rest } = headers
  const credential =
    carried ?? (authorization && !SIGNATURE.test(authorization) ? authorization : undefined)
  const sent = Object.entries({
    ...rest,
    ...(credential ? { authorization: credential } : {}),
    ...(cookies ? { cookie: cookies.join('; ') } : {}),
  })
  const query = rawQueryString ? `?${rawQueryString}` : ''
  return new Request(`https://${headers.host ?? 'localhost'}${rawPath}${query}`, {
    method: requestContext.http.method,
    headers: new Headers(sent.map(([name, value]) => [name, latin(value)])),
  })
}

/** A header may hold no other characters. */
const latin = (value: string): string =>
  [...value].every(each => each <= '\u00ff') ? value : encodeURIComponent(value)
