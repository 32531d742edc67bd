import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { platform, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long a process that was just killed may take to let go. */
const PATIENCE_MS = 3_000
const POLL_MS = 50

/**
 * Takes a folder for this process alone, or returns undefined where another one has it. The lock
 * is a socket's name, which ends with its process however that ends: no file is left to be wrong.
 */
export const lockFolder = async (
  folder: string,
): Promise<{ release: () => Promise<void> } | undefined> => {
  const name = socketName(folder)
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(POLL_MS)) {
    const server = await tryListen(name)
    if (server) return { release: () => closed(server) }
    if (platform() !== 'linux' && !(await answers(name))) await rm(name, { force: true })
    if (Date.now() > end) return undefined
  }
}

/** Linux has names without files; elsewhere a file of a dead process is removed. */
const socketName = (folder: string): string => {
  const hash = createHash('sha256').update(path.resolve(folder)).digest('hex').slice(0, 32)
  return platform() === 'linux'
    ? `\0espalier-${hash}`
    : path.join(tmpdir(), `espalier-${hash}.sock`)
}

const tryListen = (name: string): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const server = createServer(socket => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    )
    server.listen(name, () => {
      server.unref()
      resolve(server)
    })
  })

const answers = (name: string): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(name)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

const closed = (server: Server): Promise<void> =>
  new Promise(resolve => {
    server.close(() => resolve())
  })
