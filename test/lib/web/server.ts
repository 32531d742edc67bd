import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { onTestFinished, vi } from 'vitest'
import type { Address, Resolve } from '../../../lib/web/target.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A listening server that knows who has connected, closed when the test ends. */
export type TestServer = {
  port: number
  url: string
  connections: () => number
  bytes: () => number
}

/** An HTTP server on every address of this machine. */
export const startServer = (handle: Handler = (_, response) => response.end('reached')) =>
  listen(createServer(handle))

/** A server that says whatever bytes a test writes. */
export const startTcpServer = (handle: (socket: Socket) => void) => listen(createTcpServer(handle))

/** Has a server listen, count and end with the test; TLS servers tell of it by another event. */
export const listen = async (server: Server, host = '::'): Promise<TestServer> => {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', socket => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    bytes: () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0),
  }
}

/** Lets tools reach these hosts, as an operator would, until the test ends. */
export const allow = (...entries: string[]): void => {
  vi.stubEnv('ESPALIER_FETCH_ALLOW', entries.join(','))
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
}

/** A resolver that knows these names, and how often it was asked. */
export const resolving = (names: Record<string, string[]>) => {
  const asked: string[] = []
  const resolve: Resolve = async name => {
    asked.push(name)
    return (names[name] ?? []).map(addressOf)
  }
  return { resolve, asked }
}

export const addressOf = (address: string): Address => ({
  address,
  family: address.includes(':') ? 6 : 4,
})
