import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { mutate, replaceModel } from '../test/simulation/hooks.ts'
import { MUTATIONS } from '../test/simulation/mutations.ts'
import type { Report, SeedReport } from '../test/simulation/simulate.ts'

const USAGE = `npm run simulate -- [--seeds N] [--from N] [--json]     plays seeds, on every core
npm run simulate -- --seed N                             plays one seed and shows all that happened`

const DEFAULT_SEEDS = 1_000
/** Seeds that are played twice, to see that a seed alone decides what happens. */
const REPLAYED = 10
/** Failing seeds that are told of. */
const MAX_TOLD = 20

const print = (text: string): void => void process.stdout.write(`${text}\n`)

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    from: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    /** Stops at the first seed that fails. */
    bail: { type: 'boolean', default: false },
    /** Breaks the code in one of the ways of `test/simulation/mutations.ts`. */
    mutate: { type: 'string' },
    /** Plays so many others first, to show that they leave nothing behind. */
    after: { type: 'string', default: '0' },
    /** A process of its own, one for each core: plays the seeds that it is sent. */
    worker: { type: 'boolean', default: false },
  },
})

const number = (text: string): number => {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new Error(`"${text}" is no number of a seed.\n${USAGE}`)
}

const load = async () => {
  replaceModel()
  if (values.mutate !== undefined) {
    const mutation = MUTATIONS[values.mutate]
    if (!mutation) throw new Error(`There are: ${Object.keys(MUTATIONS).join(', ')}.`)
    mutate(mutation)
  }
  return import('../test/simulation/simulate.ts')
}

const showOne = async (seed: number): Promise<void> => {
  const { play } = await load()
  for (let before = 1; before <= number(values.after); before++) await play(seed + before)
  const { trace, ...result } = await play(seed)
  if (values.json) print(JSON.stringify(result))
  else print([...trace, '', JSON.stringify(result, undefined, 2)].join('\n'))
  if (result.violations.length > 0) process.exitCode = 1
}

/** Seeds are handed out one by one: some take much longer than others. */
const playMany = async (from: number, count: number): Promise<Report> => {
  const { add, emptyReport } = await load()
  const started = performance.now()
  const sum = emptyReport()
  let next = from
  const send = (worker: ChildProcess) => {
    const isEnough = values.bail && sum.violations.length > 0
    if (next < from + count && !isEnough)
      worker.send({ seed: next, isTwice: next++ < from + REPLAYED })
    else worker.disconnect()
  }
  const mutation = values.mutate === undefined ? [] : ['--mutate', values.mutate]
  const workers = Array.from({ length: availableParallelism() }, () =>
    fork(import.meta.filename, ['--worker', ...mutation], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    }),
  )
  await Promise.all(
    workers.map(
      worker =>
        new Promise<void>((resolve, reject) => {
          worker.on('message', message => {
            add(sum, message as SeedReport)
            send(worker)
          })
          worker.on('error', reject)
          worker.on('exit', code =>
            code === 0 ? resolve() : reject(new Error(`A worker ended with ${code}.`)),
          )
          send(worker)
        }),
    ),
  )
  sum.violations.sort((one, other) => one.seed - other.seed)
  return { ...sum, seconds: Math.round((performance.now() - started) / 100) / 10 }
}

const work = async (): Promise<void> => {
  const { report } = await load()
  process.on('message', ({ seed, isTwice }: { seed: number; isTwice: boolean }) => {
    report(seed, isTwice).then(
      result => process.send?.(result),
      error => {
        process.stderr.write(`seed ${seed}: ${error?.stack}\n`)
        process.exit(1)
      },
    )
  })
}

const show = ({ seeds, replayed, commands, events, seconds, ...report }: Report): void => {
  const { mishaps, reached, violations } = report
  print(`${seeds} seeds, ${replayed} of them played twice and the same, in ${seconds} s`)
  print(`${commands} commands, ${events} events`)
  showCounts('mishaps', mishaps)
  showCounts('reached', reached)
  print(`${violations.length} seeds with violations`)
  for (const { seed, what } of violations.slice(0, MAX_TOLD)) {
    print(`  --seed ${seed}`)
    for (const words of what) print(`      ${words}`)
  }
}

const showCounts = (title: string, counts: Record<string, number>): void => {
  const sum = Object.values(counts).reduce((total, count) => total + count, 0)
  print(`${title}: ${sum}`)
  for (const [name, count] of Object.entries(counts).toSorted(([, a], [, b]) => b - a))
    print(`  ${String(count).padStart(8)}  ${name}`)
}

const main = async (): Promise<void> => {
  if (values.help) return print(USAGE)
  if (values.worker) return work()
  if (values.seed !== undefined) return showOne(number(values.seed))
  const result = await playMany(number(values.from), number(values.seeds ?? String(DEFAULT_SEEDS)))
  if (values.json) print(JSON.stringify(result))
  else show(result)
  const [first] = result.violations
  if (!first) return
  process.exitCode = 1
  if (!values.json) await showOne(first.seed)
}

await main()
