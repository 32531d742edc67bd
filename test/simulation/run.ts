import { setLogSink } from '../../lib/core/log.ts'
import { checkEnd } from './check.ts'
import { type Clock, createClock, lives } from './clock.ts'
import { setCurrentRun } from './current.ts'
import { createFunctions } from './functions.ts'
import { setClock } from './globals.ts'
import { createGateway } from './http.ts'
import { type Input, short } from './label.ts'
import { createMachine } from './machine.ts'
import { createMishaps, type Mishap, type Mishaps } from './mishaps.ts'
import { createPeople, type People } from './people.ts'
import { createPhases } from './phases.ts'
import type { EffectDone } from './probe.ts'
import type { SaidCalls } from './prompt.ts'
import { createRandom, type Random } from './random.ts'
import type { Reached } from './reached.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import type { FakeTable } from './table.ts'
import { createTrace, type Trace } from './trace.ts'
import { createWatch } from './watch.ts'
import type { World } from './world.ts'

/** When every run begins; what people have set up is older. */
export const STARTS_AT = Date.parse('2030-01-01T00:00:00.000Z')
/** What the texts begin with that no other is like. */
export const OWN_TEXT = 'text-'
/** Whole multiples of it are the times at which something happens: much of it at once. */
const COARSEST_MS = 5_000
/** How far a read that is not consistent may lag behind. */
const READ_LAG_MS = 10_000

/** One run: everything that a seed decides. */
export type Run = {
  seed: number
  agents: string[]
  random: Random
  clock: Clock
  trace: Trace
  scheduler: Scheduler
  mishaps: Mishaps
  table: FakeTable
  objects: Map<string, { body: Uint8Array; contentType: string }>
  functions: ReturnType<typeof createFunctions>
  machine: ReturnType<typeof createMachine>
  people: People
  watch: ReturnType<typeof createWatch>
  counts: { commands: number }
  /** What operations did, what models were asked, said and reported as spent. */
  effects: EffectDone[]
  asked: { taskId: string; begunAt: number }[]
  spent: { taskId: string; inputTokens: number; outputTokens: number }[]
  said: SaidCalls
  violations: string[]
  violate: (what: string) => void
  /** A text that no other has. */
  text: () => string
  lateRead: (name: string, input: Input) => object
  /** Has something go on beside everything else; what it throws is a fault of the simulation. */
  background: (work: () => Promise<void>) => void
}

export type RunResult = {
  seed: number
  violations: string[]
  mishaps: Partial<Record<Mishap, number>>
  commands: number
  events: number
  reached: Reached
  virtualSeconds: number
  hash: string
  trace: string[]
}

/** Plays what a seed says, from the first request until nothing is left to happen. */
export const playSeed = async (world: World, seed: number): Promise<RunResult> => {
  const random = createRandom(seed)
  const mishaps = createMishaps(random)
  // Where nothing goes wrong, that much happens at once is all that can.
  const grainMs = mishaps.isCalm ? COARSEST_MS : random.pick([1, 1, 1_000, COARSEST_MS])
  const clock = createClock(STARTS_AT, random, { grainMs })
  setClock(clock)
  const run = createRun(world, { seed, random, clock, mishaps })
  setCurrentRun(run)
  const restored = setLogSink(entry => noteLog(run, entry))
  try {
    const phases = createPhases(run, world)
    const isOver = await run.scheduler.run(phases.idle)
    if (!isOver) run.violate('nothing is left to happen, and it is not over')
    const reached = checkEnd(run)
    return {
      seed,
      violations: run.violations,
      mishaps: run.mishaps.counts,
      commands: run.counts.commands,
      events: run.scheduler.picked(),
      reached,
      virtualSeconds: Math.round((clock.now() - STARTS_AT) / 1_000),
      hash: run.trace.hash(),
      trace: run.trace.lines,
    }
  } finally {
    setLogSink(restored)
    setClock(undefined)
  }
}

const createRun = (
  world: World,
  {
    seed,
    random,
    clock,
    mishaps,
  }: { seed: number; random: Random; clock: Clock; mishaps: Mishaps },
): Run => {
  const trace = createTrace(clock.now)
  const violations: string[] = []
  const violate = (what: string) => {
    trace.add(undefined, `VIOLATION: ${what}`)
    violations.push(what)
  }
  const table = world.table.clone()
  let texts = 0
  const run = {
    seed,
    agents: world.agents,
    random,
    clock,
    trace,
    scheduler: createScheduler(clock, random, trace),
    mishaps,
    table,
    objects: new Map(),
    watch: createWatch({ table, violate }),
    counts: { commands: 0 },
    effects: [],
    asked: [],
    spent: [],
    said: new Map(),
    violations,
    violate,
    text: () => `${OWN_TEXT}${++texts}`,
    lateRead: (name: string, input: Input) =>
      table.performLate(name, input, { random: random.next, lagMs: READ_LAG_MS }),
    background: (work: () => Promise<void>) => {
      lives.exit(work).catch(error => violate(`the simulation failed: ${error?.stack}`))
    },
  } as unknown as Run
  run.functions = createFunctions(run, world.functions)
  run.machine = createMachine(run, world.definition)
  run.people = createPeople(run, createGateway(world.routes))
  return run
}

/** What the mishaps themselves lead to; an error of any other kind is a fault in the code. */
const EXPECTED = [
  'Lost',
  'ProbeFailure',
  'ProvisionedThroughputExceededException',
  'TransactionConflictException',
  'TransactionCanceledException',
  'TooManyRequestsException',
  'symbol',
]

const noteLog = (run: Run, entry: { event: string } & Record<string, unknown>): void => {
  const { error, code, cause } = entry
  // The sweeper is there for what goes wrong: where nothing does, it finds nothing.
  if (entry.event === 'task-swept' && run.mishaps.isCalm)
    run.violate(`${short(String(entry.taskId))} was left to the sweeper, and nothing went wrong`)
  const kind = (cause as { error?: unknown } | undefined)?.error ?? error
  if (error === undefined || EXPECTED.includes(String(kind))) return
  if (code !== undefined && code !== 'INTERNAL') return
  run.violate(`${entry.event}: ${String(error)} ${JSON.stringify(cause ?? entry.stack ?? '')}`)
}
