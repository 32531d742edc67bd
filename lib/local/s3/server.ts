import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { systemClock } from '../../core/clock.ts'
import { errorFields, log } from '../../core/log.ts'
import { authenticate } from './authentication.ts'
import { corsHeadersFor, preflight } from './cors.ts'
import { S3_ERROR_STATUS, S3Error } from './errors.ts'
import { notImplemented, OPERATIONS, operationOf } from './operation.ts'
import { type Reply, type S3Request, toRequest } from './request.ts'
import { type Credentials, createSigner, type Signer } from './signature.ts'
import { openStore, type Store } from './store.ts'
import { renderErrorXml } from './xml.ts'

const HOST = '127.0.0.1'
const DEFAULT_REGION = 'us-east-1'
/** How long requests under way may take to end once the server is told to close. */
const CLOSE_GRACE_MS = 1000
/** Longer than a client keeps a connection, so that none is cut as it is used again. */
const KEEP_ALIVE_MS = 60_000

export type S3Server = {
  url: string
  port: number
  /** How often each operation was asked for, refused or not, by AWS's name for it. */
  requests: () => Record<string, number>
  close: () => Promise<void>
}

type Context = { store: Store; signer: Signer; count: (operation: string) => void }

/**
 * Starts an S3 server for one machine: path-style, on the loopback address, with one pair of
 * credentials. Objects are kept in `directory`, which one server at a time may have.
 */
export const startS3 = async ({
  directory,
  port = 0,
  credentials,
  region = DEFAULT_REGION,
}: {
  directory: string
  port?: number
  credentials: Credentials
  region?: string
}): Promise<S3Server> => {
  const counts = new Map<string, number>()
  const opened = Promise.withResolvers<Context>()
  const listener = async (incoming: IncomingMessage, response: ServerResponse) =>
    serve(await opened.promise, incoming, response)
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, listener)
  // Without this, Node would ask for the body before the signature has been looked at.
  server.on('checkContinue', listener)
  // The port comes first: opening the store sweeps drafts, which must not be another server's.
  const bound = await listen(server, port)
  try {
    opened.resolve({
      store: await openStore(directory),
      signer: createSigner(credentials, region),
      count: operation => counts.set(operation, (counts.get(operation) ?? 0) + 1),
    })
  } catch (error) {
    await close(server)
    throw error
  }
  return {
    url: `http://${HOST}:${bound}`,
    port: bound,
    requests: () => Object.fromEntries(counts),
    close: () => close(server),
  }
}

const serve = async (
  context: Context,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const expectsContinue = incoming.headers.expect?.toLowerCase() === '100-continue'
  let isContinued = false
  const beforeRead = (): void => {
    if (expectsContinue && !isContinued) response.writeContinue()
    isContinued = true
  }
  try {
    const reply = await answer(context, incoming, beforeRead)
    // A client that was not told to go on may or may not send its body: what follows on this
    // connection can't be told apart from it.
    if (expectsContinue && !isContinued) response.shouldKeepAlive = false
    await send(incoming, response, reply)
  } catch (error) {
    // The client has gone while it sent or was sent: there is nobody to tell but the log.
    log('debug', 's3-answer-broken', errorFields(error))
    response.destroy()
  }
}

const answer = async (
  context: Context,
  incoming: IncomingMessage,
  beforeRead: () => void,
): Promise<Reply> => {
  const requestId = randomBytes(8).toString('hex').toUpperCase()
  let request: S3Request | undefined
  let reply: Reply
  try {
    request = toRequest(incoming, beforeRead)
    reply = await carryOut(context, request)
  } catch (error) {
    if (incoming.destroyed && !incoming.complete) throw error
    reply = refuse(error, { requestId, resource: request?.path ?? '' })
  }
  const cors = request && request.method !== 'OPTIONS' ? corsHeadersFor(request, context.store) : {}
  return { ...reply, headers: { ...cors, 'x-amz-request-id': requestId, ...reply.headers } }
}

const carryOut = async (context: Context, request: S3Request): Promise<Reply> => {
  const { store, signer } = context
  const now = systemClock.now()
  if (request.method === 'OPTIONS') {
    context.count('PreflightRequest')
    return preflight(request, store)
  }
  const operation = operationOf(request)
  if (operation) context.count(operation)
  // A form brings its signature in its fields, and is authenticated where they are read.
  const payload =
    operation === 'PostObject'
      ? ({ kind: 'unsigned' } as const)
      : await authenticate(request, signer, now)
  if (!operation) throw notImplemented(request)
  return await OPERATIONS[operation]({ request, payload, store, signer, now })
}

const refuse = (error: unknown, place: { requestId: string; resource: string }): Reply => {
  if (!(error instanceof S3Error)) {
    log('error', 's3-request-failed', errorFields(error))
    return refuse(new S3Error('InternalError', 'We encountered an internal error.'), place)
  }
  return {
    status: S3_ERROR_STATUS[error.code],
    headers: error.headers,
    body: renderErrorXml([
      ['Code', error.code],
      ['Message', error.message],
      ['Resource', place.resource],
      ['RequestId', place.requestId],
    ]),
  }
}

const send = async (
  incoming: IncomingMessage,
  response: ServerResponse,
  { status, headers = {}, body = '' }: Reply,
): Promise<void> => {
  if (typeof body !== 'string') {
    response.writeHead(status, headers)
    await pipeline(body, response)
    return
  }
  const isBodiless = incoming.method === 'HEAD' || status === 204 || status === 304
  const bytes = isBodiless ? '' : body
  response.writeHead(status, {
    ...(bytes ? { 'content-type': 'application/xml' } : {}),
    ...(isBodiless ? {} : { 'content-length': String(Buffer.byteLength(bytes)) }),
    ...headers,
  })
  response.end(bytes)
  // What a refused client still sends is read and dropped, so that it gets to our answer.
  incoming.resume()
}

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    })
  })

const close = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.close(error => (error ? reject(error) : resolve()))
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS).unref()
  })
