import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { AppError, ERROR_STATUS, hasCode } from '../core/errors.ts'
import { errorFields, log } from '../core/log.ts'
import { eventOf, splitTarget } from './api/event.ts'
import { type ApiResponse, gatewayError, responseOf } from './api/result.ts'
import { type ApiRoute, matcherOf } from './api/route.ts'
import { MAX_SYNC_PAYLOAD_BYTES } from './lambda/run.ts'
import type { Streamed } from './lambda.ts'
import { bind, LOOPBACK, readBody, unbind } from './server.ts'

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html */
export const MAX_REQUEST_BYTES = 10 * 1024 * 1024
/** The same page: the request line and the values of all headers together, in bytes. */
export const MAX_HEADER_BYTES = 10_240
/** What is read of them, so that we and not Node say that they are too many. */
const MAX_READ_HEADER_BYTES = 8 * MAX_HEADER_BYTES
/** The same page: how long an integration may take. */
const INTEGRATION_TIMEOUT_MS = 30_000

/** What is logged where the client left before there was an answer. */
const CLIENT_GONE = 499

/** The names under which a browser may reach us, with our port: no other page's name leads here. */
const HOSTS = ['localhost', '127.0.0.1', '[::1]']

export type RequestLine = {
  method: string
  /** The route's pattern: a URL may hold what no log should. */
  path: string
  status: number
  milliseconds: number
}

export type LocalApi = { url: string; port: number; close: () => Promise<void> }

type Options = {
  routes: ApiRoute[]
  /** Runs a function; throws PAYLOAD_TOO_LARGE for an event that Lambda would not take. */
  invoke: (
    functionName: string,
    event: unknown,
  ) => Promise<{ payload: unknown; functionError?: string }>
  /** Runs a function that streams, as the Router reaches it past the gateway. */
  stream?: (functionName: string, event: unknown) => Promise<Streamed>
  /** The functions that do. */
  streaming?: ReadonlySet<string>
  port?: number
  onRequest?: (line: RequestLine) => void
  /** Pages that exist locally only; asked where no route has the path. */
  fallback?: { fetch: (request: Request) => Response | Promise<Response> }
  timeoutMs?: number
}

/**
 * Starts an HTTP API on 127.0.0.1 in front of functions, as API Gateway stands in front of them.
 * Where the gateway itself refuses, the answer is our own envelope, so that a client sees one
 * form of error.
 */
export const startApi = async (options: Options): Promise<LocalApi> => {
  const { routes, invoke, stream, streaming, onRequest, fallback } = options
  const { timeoutMs = INTEGRATION_TIMEOUT_MS } = options
  const match = matcherOf(routes)
  const pages = fallback && pagesOf(fallback)

  /** Answers a request; `seen` is told the route's pattern once it is known. */
  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    seen: (path: string) => void,
  ): Promise<void> => {
    checkHost(request)
    checkHeaders(request)
    const { method = 'GET', url = '' } = request
    const found = match(method, splitTarget(url).rawPath)
    if (found.kind === 'none') {
      if (pages && url.startsWith('/')) return await pages(request, response)
      throw noRoute()
    }
    if (found.kind === 'other-method') {
      seen(found.path)
      response.setHeader('allow', found.allow.join(', '))
      throw new AppError('METHOD_NOT_ALLOWED', `${method} is not allowed here.`)
    }
    seen(found.route.path)
    const body = await readBody(request, MAX_REQUEST_BYTES)
    if (body === undefined) throw tooLarge()
    const requestId = randomUUID()
    const event = eventOf({ request, ...found, body, requestId, now: new Date() })
    response.setHeader('apigw-requestid', requestId)
    if (stream && streaming?.has(found.route.functionName)) {
      const streamed = await stream(found.route.functionName, event).catch(asFailure)
      return await pass(request, response, streamed)
    }
    const invocation = invoke(found.route.functionName, event).catch(asFailure)
    const result = await within(timeoutMs, invocation)
    write(request, response, result ? responseOf(result) : gatewayError(503))
  }

  const server = createServer({ maxHeaderSize: MAX_READ_HEADER_BYTES }, (request, response) => {
    const startedAt = performance.now()
    let path = '(no route)'
    response.once('close', () => {
      const milliseconds = Math.round(performance.now() - startedAt)
      onRequest?.({
        method: request.method ?? '',
        path,
        status: response.writableEnded ? response.statusCode : CLIENT_GONE,
        milliseconds,
      })
    })
    answer(request, response, pattern => {
      path = pattern
    }).catch(error => fail(request, response, error))
  })
  const port = await bind(server, options.port ?? 0)
  return { url: `http://${LOOPBACK}:${port}`, port, close: () => unbind(server) }
}

/**
 * A page of another site may have its name resolve to this machine, and its scripts would then
 * be of our origin; only the Host header tells.
 */
const checkHost = ({ headers, socket }: IncomingMessage): void => {
  const host = headers.host?.toLowerCase()
  const port = socket.localPort
  const isOurs = HOSTS.some(name => host === `${name}:${port}` || (port === 80 && host === name))
  if (isOurs) return
  throw new AppError('MISDIRECTED_REQUEST', `This is localhost:${port}, under no other name.`)
}

const checkHeaders = ({ method, url, httpVersion, rawHeaders }: IncomingMessage): void => {
  const values = rawHeaders.filter((_, index) => index % 2 === 1)
  const bytes = Buffer.byteLength([`${method} ${url} HTTP/${httpVersion}`, ...values].join(''))
  if (bytes <= MAX_HEADER_BYTES) return
  throw new AppError(
    'HEADERS_TOO_LARGE',
    `The request line and the values of the headers have ${bytes} bytes together; API Gateway takes ${MAX_HEADER_BYTES}. Send fewer cookies, or a shorter query.`,
  )
}

/** The work's result, or undefined when the time is up: the function runs on, as in AWS. */
const within = async <T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> => {
  const done = new AbortController()
  const timeout = sleep(timeoutMs, undefined, { signal: done.signal }).catch(() => undefined)
  try {
    return await Promise.race([work, timeout])
  } finally {
    done.abort()
  }
}

/** A route to a function that is not there is a defect of ours, and no 404 of the caller's. */
const asFailure = (cause: unknown): never => {
  if (hasCode(cause, 'PAYLOAD_TOO_LARGE')) throw tooLarge(cause)
  throw new AppError('INTERNAL', 'A function could not be invoked.', { cause })
}

const pagesOf = (fallback: NonNullable<Options['fallback']>) =>
  getRequestListener(
    async request => {
      const response = await fallback.fetch(request)
      return response.status === 404
        ? Response.json(envelope(noRoute()), { status: 404 })
        : response
    },
    { overrideGlobalObjects: false },
  )

const write = (
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: ApiResponse,
): void => {
  if (response.headersSent || response.destroyed) return
  const hasBody = status !== 204 && status !== 304
  const length = hasBody ? { 'content-length': body.length } : {}
  response.writeHead(status, { ...headers, ...length })
  response.end(hasBody && request.method !== 'HEAD' ? body : undefined)
}

/** Sends what a function streams as it comes, until either end closes. */
const pass = async (
  request: IncomingMessage,
  response: ServerResponse,
  streamed: Streamed,
): Promise<void> => {
  if ('functionError' in streamed) return write(request, response, gatewayError(502))
  const { metadata, body } = streamed
  const { status, headers } = responseOf({ payload: metadata })
  if (response.destroyed) {
    body.destroy()
    return
  }
  response.writeHead(status, headers)
  response.flushHeaders()
  // Either may go first: a client that hangs up, a function whose time is up.
  await pipeline(body, response).catch(() => {})
}

const fail = (request: IncomingMessage, response: ServerResponse, error: unknown): void => {
  if (error instanceof AppError && hasCode(error, ...REFUSALS)) {
    write(request, response, refusal(error))
    return
  }
  log('error', 'api-failed', errorFields(error))
  write(request, response, gatewayError(500))
}

const REFUSALS = [
  'MISDIRECTED_REQUEST',
  'METHOD_NOT_ALLOWED',
  'HEADERS_TOO_LARGE',
  'PAYLOAD_TOO_LARGE',
  'NOT_FOUND',
] as const

const refusal = (error: AppError): ApiResponse => ({
  status: ERROR_STATUS[error.code],
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(envelope(error))),
})

const envelope = ({ code, message }: AppError) => ({ error: { code, message } })

const noRoute = (): AppError => new AppError('NOT_FOUND', 'There is nothing at this path.')

const tooLarge = (cause?: unknown): AppError =>
  new AppError(
    'PAYLOAD_TOO_LARGE',
    `API Gateway takes requests of ${MAX_REQUEST_BYTES} bytes, and hands on to Lambda what has ${MAX_SYNC_PAYLOAD_BYTES} bytes as JSON, where all that isn't text is in base64. Send less at once.`,
    { cause },
  )
