import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { routeTable } from '../functions/routes.ts'
import { AppError } from '../lib/core/errors.ts'
import { budgetOf } from '../lib/deploy/budget.ts'
import { type Manifest, makeBundles } from '../lib/deploy/make-bundles.ts'
import { BUNDLE_ENTRY } from '../lib/deploy/prepare-bundles.ts'
import { measureIn, median } from './bench/process.ts'

// `npm run bundles` bundles every function as a deploy does and says how heavy each is; with --write
// and a folder it leaves them there, as a deploy has it do.

const CHILD = path.join(import.meta.dirname, 'bench/child.ts')
const DEFAULT_RUNS = 5
const SHOWN_PARTS = 3

const kib = (bytes: number): string => `${Math.round(bytes / 1024)}`

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      write: { type: 'string' },
      runs: { type: 'string', default: String(DEFAULT_RUNS) },
    },
  })
  const runs = Number(values.runs)
  if (!Number.isInteger(runs) || runs < 0)
    throw new AppError('BAD_REQUEST', '--runs takes how often each start is timed: 0, 1, 2, …')
  const table = await routeTable()
  if (values.write) {
    const manifest = await makeBundles(table, path.resolve(values.write))
    print(`${Object.keys(manifest).length} bundles are in ${values.write}.`)
    return
  }
  const directory = await mkdtemp(path.join(tmpdir(), 'espalier-bundles-'))
  try {
    await report(await makeBundles(table, directory), directory, runs)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const report = async (manifest: Manifest, directory: string, runs: number): Promise<void> => {
  print(row(['function', 'start', 'of', 'whole', 'of', 'import', 'heaviest, in KiB']))
  const over: string[] = []
  for (const [module, { startBytes, bytes, parts }] of Object.entries(manifest)) {
    const { startKiB, wholeKiB } = budgetOf(module)
    if (startBytes > startKiB * 1024 || bytes > wholeKiB * 1024) over.push(module)
    const file = path.join(directory, module, `${BUNDLE_ENTRY}.mjs`)
    const heaviest = parts.slice(0, SHOWN_PARTS).map(part => `${part.from} ${kib(part.bytes)}`)
    print(
      row([
        module,
        kib(startBytes),
        `${startKiB}`,
        kib(bytes),
        `${wholeKiB}`,
        runs === 0 ? '' : `${Math.round(await importMs(file, runs))} ms`,
        heaviest.join(', '),
      ]),
    )
  }
  print(
    'KiB; start is what is read before anything is asked of a function. Budgets: lib/deploy/budget.ts',
  )
  if (over.length > 0) {
    print(
      `Over their budget: ${over.join(', ')}. Import what is heavy inside the operation that uses it, or give the function a budget of its own.`,
    )
    process.exitCode = 1
  }
}

const importMs = async (file: string, runs: number): Promise<number> => {
  const samples: number[] = []
  for (let run = 0; run < runs; run++)
    samples.push((await measureIn<{ importMs: number }>([CHILD, file])).importMs)
  return median(samples)
}

const row = ([module = '', ...cells]: string[]): string =>
  [
    module.padEnd(26),
    ...cells.map((cell, at) => (at === cells.length - 1 ? `  ${cell}` : cell.padStart(6))),
  ].join(' ')

const print = (line: string) => process.stdout.write(`${line}\n`)

await main().catch(error => {
  // Of a file that can't be loaded, the stack alone says which it is.
  print(error instanceof Error && !(error instanceof AppError) ? `${error.stack}` : error.message)
  process.exitCode = 1
})
