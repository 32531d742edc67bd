import path from 'node:path'
import { routeTable } from '../../functions/routes.ts'
import { tools } from '../../functions/tools/index.ts'
import { AppError } from '../../lib/core/errors.ts'
import { setLogSink } from '../../lib/core/log.ts'
import { type Stack, startStack } from '../../lib/local/stack.ts'
import { createStartPage } from '../../lib/local/start-page.ts'
import { allTools } from '../../lib/tool/registry.ts'
import { loadFunction } from '../load-function.ts'

const DEFAULT_PORT = 8787
const DEFAULT_DATA = '.espalier'
const MAX_PORT = 65_535

const print = (line: string) => process.stdout.write(`${line}\n`)
const clock = () => new Date().toTimeString().slice(0, 8)

// Requests get a line of their own; of the rest only what someone should look at.
setLogSink(({ level, event, time: _, ...fields }) => {
  if (level === 'warn' || level === 'error')
    print(`${clock()} ${level} ${event} ${JSON.stringify(fields)}`)
})

const main = async () => {
  const { ESPALIER_ADMIN_KEY: adminKey, ESPALIER_DATA = DEFAULT_DATA } = process.env
  const directory = path.resolve(ESPALIER_DATA)
  const table = await routeTable()
  let stack: Stack | undefined
  const pages = createStartPage({
    tools: await allTools(tools),
    table,
    status: () =>
      stack && {
        url: stack.url,
        dataDirectory: directory,
        running: stack.running(),
        waiting: stack.waiting(),
        costs: stack.costs(),
      },
  })
  stack = await startStack({
    table,
    load: loadFunction,
    directory,
    port: readPort(process.env.PORT),
    adminKey,
    pages,
    onRequest: ({ method, path: route, status, milliseconds }) =>
      print(`${clock()} ${method} ${route} ${status} ${Math.round(milliseconds)} ms`),
  })
  print(`Espalier listens on ${stack.url} (Ctrl+C stops it; data is in ${directory})`)
  if (stack.newKey) print(`\nThe admin's key, shown this once:\n\n  ${stack.newKey}\n`)
  else if (!adminKey)
    print('Use the key of the first start, or set ESPALIER_ADMIN_KEY to one of your own.')
  process.send?.('started')

  // Ctrl+C reaches every process of the terminal; the one that started this one says when to stop.
  process.on('SIGINT', () => {})
  process.once('SIGTERM', async () => {
    await stack.close()
    process.exit(0)
  })
}

// Whoever started this process is gone, perhaps killed: then so is this one.
process.on('disconnect', () => process.exit(1))

const readPort = (text = String(DEFAULT_PORT)): number => {
  const port = Number(text)
  if (text.trim() !== '' && Number.isInteger(port) && port >= 0 && port <= MAX_PORT) return port
  throw new AppError(
    'NOT_CONFIGURED',
    `PORT must be a whole number from 0 to ${MAX_PORT}, not "${text}".`,
  )
}

try {
  await main()
} catch (error) {
  const text =
    error instanceof AppError ? error.message : error instanceof Error ? error.stack : error
  process.stderr.write(`${text}\n`)
  process.exit(1)
}
