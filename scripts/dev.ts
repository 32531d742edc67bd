import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type FSWatcher, watch } from 'node:fs'
import path from 'node:path'

// Serves the stack until it is stopped, and starts it anew when the code changes. The stack runs
// in a process of its own, which ends when this one does, however it does.

const ROOT = path.join(import.meta.dirname, '..')
const WATCHED = ['functions', 'lib', 'scripts']
/** An editor writes a file in several steps. */
const SETTLE_MS = 150

let server: ChildProcess | undefined
let hasStarted = false
let isStopping = false

const start = () => {
  const child = fork(path.join(import.meta.dirname, 'dev/server.ts'), { cwd: ROOT })
  server = child
  child.on('message', () => {
    hasStarted = true
  })
  child.on('exit', (code, signal) => {
    if (server !== child || isStopping) return
    if (signal) {
      process.stderr.write(`The server was killed (${signal}); starting it again.\n`)
      start()
      return
    }
    // A first start that fails has said why. Later ones wait for the code to be mended.
    if (!hasStarted) process.exit(code ?? 1)
    process.stderr.write('The server ended; it starts again when a file changes.\n')
  })
}

const restart = async () => {
  const child = server
  server = undefined
  if (child && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  if (!isStopping) start()
}

let timer: NodeJS.Timeout | undefined
const onChange = (file: string) => {
  clearTimeout(timer)
  timer = setTimeout(() => {
    process.stdout.write(`${file} changed; starting again.\n`)
    // A file that was replaced is another one from now on: only new watchers see it.
    for (const watcher of watchers) watcher.close()
    watchers = watchAll()
    void restart()
  }, SETTLE_MS)
}

const watchAll = (): FSWatcher[] =>
  WATCHED.map(folder =>
    watch(path.join(ROOT, folder), { recursive: true }, (_event, file) => {
      if (file?.endsWith('.ts')) onChange(path.join(folder, file))
    }),
  )
let watchers = watchAll()

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, async () => {
    if (isStopping) return
    isStopping = true
    if (server && server.exitCode === null && server.signalCode === null) {
      server.kill('SIGTERM')
      await once(server, 'exit')
    }
    process.exit(0)
  })

start()
