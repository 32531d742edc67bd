import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AppError } from '../core/errors.ts'

/** The embedded services check no signatures: they are for this machine alone. */
export const LOOPBACK = '127.0.0.1'

/** A port that nobody listens on at this moment. */
export const freePort = async (): Promise<number> => {
  const server = createServer()
  const port = await bind(server, 0)
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Binds a server to a loopback port (0: a free one) and returns the port. */
export const bind = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portError(error, port)))
    server.listen(port, LOOPBACK, () => resolve((server.address() as AddressInfo).port))
  })

/** Ends a server at once: open connections, kept alive or busy, are cut. */
export const unbind = (server: Server): Promise<void> =>
  new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

const portError = (error: NodeJS.ErrnoException, port: number): Error => {
  if (error.code !== 'EADDRINUSE') return error
  return new AppError(
    'NOT_CONFIGURED',
    `Port ${port} is in use. End what listens there, or set PORT to another one.`,
    { cause: error },
  )
}
