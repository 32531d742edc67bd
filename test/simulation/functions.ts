import type { FunctionSpec } from '../../lib/http/route-table.ts'
import { FUNCTION_PREFIX } from '../../lib/local/environment.ts'
import { lambdaContext } from '../../lib/local/lambda/context.ts'
import { lambdaArn } from '../../lib/local/lambda/run.ts'
import { lives } from './clock.ts'
import type { Life } from './life.ts'
import type { Run } from './run.ts'

export type Handler = (event: never, context: never) => Promise<unknown>
export type Loaded = { spec: FunctionSpec; handler: Handler }

/** What came of one invocation, as whoever waits for it is told. */
export type Invocation = { payload: unknown; error?: { type: string; message: string } }

/** How long a function is kept from going on: for a moment, or past every lease. */
const PAUSE_MS = 3_000
const LONG_PAUSE_MS = [61_000, 200_000] as const
/** An event is delivered at once, or much later. */
const DELIVERY_MS = 500
const LATE_MS = 20 * 60_000
/** https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html */
const EVENT_RETRIES_MS = [60_000, 120_000]

/** The functions of the route table, run one invocation a life. */
export const createFunctions = (run: Run, loaded: Map<string, Loaded>) => {
  const { clock, scheduler, mishaps, trace, random } = run
  const alive = new Set<Life>()
  let made = 0
  let waiting = 0

  const find = (nameOrArn: string): Loaded => {
    const name = (nameOrArn.split(':function:').at(-1) ?? '').split(':')[0] ?? ''
    const found = loaded.get(name.replace(FUNCTION_PREFIX, ''))
    if (!found) throw new Error(`There is no function ${nameOrArn}.`)
    return found
  }

  /** Runs a function once; it may die, and then this is what its caller is told. */
  const invoke = (
    name: string,
    event: unknown,
    about = '',
    begun?: (life: Life) => void,
  ): Promise<Invocation> => {
    const { spec, handler } = find(name)
    const { promise, resolve } = Promise.withResolvers<Invocation>()
    const text = JSON.stringify(event ?? {})
    const life: Life = {
      id: ++made,
      role: spec.name,
      about: about === '' ? '' : `(${about})`,
      dead: false,
      pausedUntil: 0,
      timeoutAt: clock.now() + spec.timeoutSeconds * 1_000,
      event: JSON.parse(text),
      ledgerAt: 0,
      kill: errorType => {
        if (life.dead) return
        life.dead = true
        alive.delete(life)
        trace.add(life, `DIED: ${errorType}`)
        resolve({ payload: null, error: { type: errorType, message: errorType } })
      },
    }
    alive.add(life)
    begun?.(life)
    const context = lambdaContext({
      name: FUNCTION_PREFIX + spec.name,
      arn: lambdaArn(FUNCTION_PREFIX + spec.name),
      memoryMb: spec.memoryMb,
      requestId: `request-${life.id}`,
      deadline: life.timeoutAt,
    })
    const timeout = clock.add(spec.timeoutSeconds * 1_000, () => life.kill('Sandbox.Timedout'))
    lives.run(life, async () => {
      await scheduler.point('begins', life)
      let outcome: Invocation
      try {
        const answer = await handler(JSON.parse(text) as never, context as never)
        outcome = { payload: JSON.parse(JSON.stringify(answer ?? null)) }
      } catch (error) {
        const { name: type, message } = error as Error
        outcome = { payload: null, error: { type, message } }
      }
      await scheduler.point(`ends ${outcome.error?.message ?? ''}`, life)
      if (mishap(life, 'killed after a command')) return
      clock.remove(timeout)
      alive.delete(life)
      // What it has left undone is frozen with its process; another event may thaw it.
      if (mishaps.happens('thawed after its answer')) life.pausedUntil = clock.now() + PAUSE_MS
      else life.dead = true
      resolve(outcome)
    })
    return promise
  }

  /** Whether the function dies here; then what called this never goes on. */
  const mishap = (life: Life, kind: Parameters<typeof mishaps.happens>[0]): boolean => {
    if (!mishaps.happens(kind)) return false
    life.kill(kind)
    return true
  }

  /** Has a function run on its own, once at least, and again where it fails. */
  const enqueue = (name: string, event: unknown, about: string): void => {
    const deliver = async (retries: number[]): Promise<void> => {
      const outcome = await invoke(name, event, about)
      const [delay, ...rest] = retries
      if (!outcome.error || delay === undefined) return
      await clock.sleep(delay)
      await deliver(rest)
    }
    const copies = mishaps.happens('event delivered twice') ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      const late = mishaps.happens('event delivered late') || copy > 0
      waiting += 1
      run.background(async () => {
        await clock.sleep(random.around(late ? LATE_MS : DELIVERY_MS))
        await deliver(EVENT_RETRIES_MS)
        waiting -= 1
      })
    }
  }

  return {
    invoke: (name: string, event: unknown, about?: string) =>
      lives.exit(() => invoke(name, event, about)),

    /** Runs a function that is frozen on its way, for longer than any lease. */
    invokeFrozen: (name: string, event: unknown, about: string) =>
      invoke(name, event, about, life =>
        clock.add(random.around(PAUSE_MS), () => {
          life.pausedUntil = clock.now() + random.int(...LONG_PAUSE_MS)
        }),
      ),
    enqueue,
    alive,
    /** Events that have not been dealt with yet. */
    undelivered: (): number => waiting,

    /** A place where a function may be held up or die. */
    pass: async (life: Life, label: string, kinds: PassKinds): Promise<void> => {
      if (mishaps.happens('paused')) life.pausedUntil = clock.now() + random.around(PAUSE_MS)
      else if (mishaps.happens('paused past its lease'))
        life.pausedUntil = clock.now() + random.int(...LONG_PAUSE_MS)
      else if (mishaps.happens('hung until its time was up')) life.pausedUntil = life.timeoutAt
      await scheduler.point(label, life)
      if (mishap(life, kinds.before)) await forever()
    },
    /** The other side of it. */
    leave: async (life: Life, kinds: PassKinds): Promise<void> => {
      if (mishap(life, kinds.after)) await forever()
    },
  }
}

type Mishap = Parameters<Run['mishaps']['happens']>[0]
export type PassKinds = { before: Mishap; after: Mishap }

const forever = (): Promise<never> => new Promise(() => {})
