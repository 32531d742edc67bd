import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AppError } from '../core/errors.ts'

/** The embedded services check no signatures: they are for this machine alone. */
export const LOOPBACK = '127.0.0.1'

/**
 * Whether a page in a browser sent this request: it could, to any port of this machine, and
 * nothing else would stop it where no signature is checked. Browsers name the origin of every
 * POST, and the SDKs never do.
 */
export const isFromPage = ({ headers }: IncomingMessage): boolean => headers.origin !== undefined

/** A port that nobody listens on at this moment. */
export const freePort = async (host = LOOPBACK): Promise<number> => {
  const server = createServer()
  const port = await bind(server, 0, host)
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Binds a server to a loopback port (0: a free one) and returns the port. */
export const bind = (server: Server, port: number, host = LOOPBACK): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portError(error, port)))
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })

/** Ends a server at once: open connections, kept alive or busy, are cut. */
export const unbind = (server: Server): Promise<void> =>
  new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

/**
 * A request's whole body, or undefined where it is larger than `maxBytes`. The rest of such a
 * body is read and thrown away: a client that is cut off while it sends sees no answer.
 */
export const readBody = async (
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
  }
  return size <= maxBytes ? Buffer.concat(chunks) : undefined
}

/** Answers with a JSON body, unless an answer has begun or the client has gone. */
export const answerJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  contentType = 'application/json',
): void => {
  if (response.headersSent || response.destroyed) return
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.length })
  response.end(bytes)
}

const portError = (error: NodeJS.ErrnoException, port: number): Error => {
  if (error.code !== 'EADDRINUSE') return error
  return new AppError(
    'NOT_CONFIGURED',
    `Port ${port} is in use. End what listens there, or set PORT to another one.`,
    { cause: error },
  )
}
