import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { freePort, LOOPBACK } from './server.ts'

/** How long the binary may take until it answers; it needs some milliseconds on an idle machine. */
const START_TIMEOUT_MS = 15_000
/** A free port may be taken by someone else before the binary binds it. */
const START_ATTEMPTS = 5
const POLL_MS = 10
/** What is kept of the binary's complaints, for our own error's text. */
const MAX_COMPLAINT_CHARS = 2_000

/**
 * Runs "$@" and kills it when standard input ends. We hold the other end of that pipe, so the
 * kernel closes it however we die, with SIGKILL too, when no code of ours could clean up. The
 * database is killed without grace in every case: SQLite's journal makes that safe, and the way
 * that must work after a crash is then the way that always runs.
 */
const WATCHDOG = `
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ read -r _; kill -KILL "$child"; } <&3 2>/dev/null &
watcher=$!
exec 3<&-
wait "$child"
status=$?
kill -KILL "$watcher" 2>/dev/null
exit "$status"
`

export type LocalDynamoDb = { url: string; close: () => Promise<void> }

type Options = {
  /** The SQLite file that holds the tables; without it they live in memory only. */
  file?: string
  port?: number
  /** Told once if the database dies by itself, which is logged in any case. */
  onExit?: (reason: AppError) => void
}

/**
 * Starts DynamoDB on a loopback address and returns when it answers. It is the dynoxide binary, from the
 * optional npm package or the PATH, unless DYNAMODB_ENDPOINT names a server that already runs.
 * It checks no signatures, and nothing but this machine reaches it; a warning is logged where pages
 * in a browser on it could. Throws NOT_CONFIGURED where there is neither.
 */
export const startDynamoDb = async (options: Options = {}): Promise<LocalDynamoDb> => {
  const endpoint = process.env.DYNAMODB_ENDPOINT
  if (endpoint) return { url: endpoint, close: async () => {} }

  const binary = findBinary()
  if (options.file !== undefined) mkdirSync(dirname(options.file), { recursive: true })

  for (let attempt = 1; ; attempt++) {
    const host = options.port ? LOOPBACK : loopbackAddress()
    const port = options.port || (await freePort(host))
    try {
      const database = await spawnDynoxide(binary, { host, port }, options)
      if (host === LOOPBACK) log('warn', 'dynamodb-open-to-browsers', { advice: OPEN_TO_BROWSERS })
      return database
    } catch (error) {
      const lostTheRace = String(error).includes('in use') && !options.port
      if (!lostTheRace || attempt === START_ATTEMPTS) throw error
    }
  }
}

/**
 * An address of this machine that no page in a browser can guess. Unlike our own services, the
 * binary answers pages of any origin, and a page can try all ports of 127.0.0.1 for it. Linux
 * alone answers on all of 127.0.0.0/8; elsewhere it stays at the usual address.
 */
const loopbackAddress = (): string => {
  if (process.platform !== 'linux') return LOOPBACK
  return `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
}

const OPEN_TO_BROWSERS =
  'Any web page in a browser on this machine could read and write the local table. Open none that ' +
  'you do not trust while this runs, or set DYNAMODB_ENDPOINT to a server that refuses them.'

const spawnDynoxide = async (
  binary: string,
  { host, port }: { host: string; port: number },
  { file, onExit }: Options,
): Promise<LocalDynamoDb> => {
  const storage = file === undefined ? [] : ['--db-path', file]
  const command = [binary, 'serve', '--host', host, '--port', String(port), ...storage]
  const watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'dynoxide-watchdog', ...command], {
    // A session of its own: Ctrl-C in the terminal must not end the database before the work.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH },
  })

  let complaint = ''
  watchdog.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-MAX_COMPLAINT_CHARS)
  })
  // Writing nothing, we never see EPIPE; an error here means that the watchdog is gone already.
  watchdog.stdin.on('error', () => {})

  const state = { closing: false, ready: false }
  const ended = endOf(watchdog).then(status => {
    // Whoever killed the watchdog alone left its child waiting for the end of this pipe.
    watchdog.stdin.destroy()
    const reason = new AppError(
      'INTERNAL',
      `The local DynamoDB (${binary}, port ${port}) ended with ${status}: ${complaint.trim()}`,
    )
    if (state.ready && !state.closing) {
      log('error', 'dynamodb-died', { reason: reason.message })
      onExit?.(reason)
    }
    return reason
  })

  const close = async () => {
    state.closing = true
    watchdog.stdin.destroy()
    await ended
  }

  const url = `http://${host}:${port}`
  // The line is printed once the port is bound: what answers after it is ours and no other's.
  const isUp = async () => complaint.includes('listening on') && (await answers(url))
  const failure = await Promise.race([ended, untilTrue(isUp)])
  if (failure) {
    await close()
    throw failure
  }
  state.ready = true
  return { url, close }
}

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `status ${code}`))
  })

/** Resolves with nothing once `test` holds, or with an error when the time to start is up. */
const untilTrue = async (test: () => Promise<boolean>): Promise<AppError | undefined> => {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline) {
    if (await test()) return undefined
    await sleep(POLL_MS)
  }
  return new AppError('INTERNAL', `The local DynamoDB did not answer in ${START_TIMEOUT_MS} ms.`)
}

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(START_TIMEOUT_MS) })).ok
  } catch {
    return false
  }
}

const findBinary = (): string => {
  const candidates = [
    fromPackage(),
    ...(process.env.PATH ?? '').split(delimiter).map(folder => join(folder, 'dynoxide')),
  ]
  const binary = candidates.find(path => path !== undefined && isExecutable(path))
  if (binary !== undefined) return binary
  throw new AppError(
    'NOT_CONFIGURED',
    `There is no DynamoDB for ${process.platform}-${process.arch}. On linux-x64, npm install ` +
      'brings it as the optional package @dynoxide/linux-x64. Elsewhere, put the dynoxide binary ' +
      '(https://github.com/nubo-db/dynoxide) on the PATH, or run any DynamoDB-compatible server ' +
      'and set DYNAMODB_ENDPOINT to its URL, for example http://127.0.0.1:8000.',
  )
}

const fromPackage = (): string | undefined => {
  try {
    return createRequire(import.meta.url).resolve('@dynoxide/linux-x64/dynoxide')
  } catch {
    return undefined
  }
}

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
