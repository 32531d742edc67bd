import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { ExecutionAlreadyExists, ExecutionDoesNotExist, TaskTimedOut } from '@aws-sdk/client-sfn'
import { vi } from 'vitest'
import * as parkFunction from '../../../functions/workflow/park.ts'
import * as sweepFunction from '../../../functions/workflow/sweep.ts'
import * as tickFunction from '../../../functions/workflow/tick.ts'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { lambda } from '../../../lib/aws/lambda.ts'
import { s3 } from '../../../lib/aws/s3.ts'
import { stepFunctions } from '../../../lib/aws/step-functions.ts'
import type { StackOptions } from '../../../lib/local/stack.ts'
import type { TickOutcome } from '../../../lib/workflow/outcome.ts'

/** What happens to one command that a function sends: its process dies, or an answer is lost. */
export type Fault = {
  at: number
  how: 'killed before' | 'killed after' | 'answer lost'
}

class Killed extends Error {}

/** One run of one function; once it is dead it sends nothing any more. */
type Life = { role: string; dead: boolean; sent: number }

/** A command that a function sent, and the how-manieth of its run it was. */
export type Command = { role: string; name: string; nth: number }
const life = new AsyncLocalStorage<Life>()

type Execution = {
  name: string
  input: { taskId: string; generation: number }
  state: 'tick' | 'park' | 'waiting' | 'pause' | 'ended'
  outcome: TickOutcome | undefined
  token: string
  /** When a pause or a wait is over by itself, in milliseconds. */
  until: number
}

const kill = (me: Life): never => {
  me.dead = true
  throw new Killed()
}

/** What all clients' stacks have in common; their own types can't be named together. */
type Stack = {
  add: (
    middleware: (
      next: (args: { input: object }) => Promise<unknown>,
      context: { commandName: string },
    ) => (args: { input: object }) => Promise<unknown>,
    options: { step: 'initialize'; priority: 'high'; name: string },
  ) => void
}

/** Between sweeps, as the schedule has it. */
const SWEEP_MS = 60_000

/**
 * The state machine's walk in the test's own hands, so that a function can die at any command
 * and the minutes that others then wait take no time: Step Functions' answers are made up here,
 * and only `Date` is the test's. All else is real.
 */
export const createMachine = () => {
  const executions = new Map<string, Execution>()
  const commands: Command[] = []
  let fault: Fault | undefined
  let isTwice = false
  let faulted: Command | undefined

  const alive = <T>(role: string, work: () => Promise<T>): Promise<T> =>
    life.run({ role, dead: false, sent: 0 }, work)

  /** Every handler's run is a life of its own. */
  const wrap =
    (load: StackOptions['load']): StackOptions['load'] =>
    async module => {
      const { handler } = await load(module)
      return { handler: (event, context) => alive(module, async () => handler(event, context)) }
    }

  const answers: Record<string, (input: Record<string, string>) => object> = {
    StartExecutionCommand: ({ name = '', input = '' }) => {
      if (executions.has(name)) throw new ExecutionAlreadyExists({ message: name, $metadata: {} })
      executions.set(name, {
        name,
        input: JSON.parse(input),
        state: 'tick',
        outcome: undefined,
        token: '',
        until: 0,
      })
      return {}
    },
    DescribeExecutionCommand: ({ executionArn = '' }) => {
      const execution = executions.get(executionArn.split(':').at(-1) ?? '')
      if (!execution) throw new ExecutionDoesNotExist({ message: executionArn, $metadata: {} })
      return { status: execution.state === 'ended' ? 'SUCCEEDED' : 'RUNNING' }
    },
    SendTaskSuccessCommand: ({ taskToken = '' }) => {
      const execution = [...executions.values()].find(({ token }) => token === taskToken)
      if (!execution) throw new TaskTimedOut({ message: 'gone', $metadata: {} })
      Object.assign(execution, { state: 'tick', token: '' })
      return {}
    },
  }

  const perform = async <T>(name: string, input: object, send: () => Promise<T>): Promise<T> => {
    const answer = answers[name]
    return answer ? ({ output: answer(input as never), response: {} } as T) : send()
  }

  const observe = async <T>(name: string, input: object, send: () => Promise<T>): Promise<T> => {
    const me = life.getStore()
    if (!me) return perform(name, input, send)
    if (me.dead) throw new Killed()
    const index = commands.push({ role: me.role, name, nth: me.sent++ }) - 1
    const isHere = fault?.at === index
    if (isHere) faulted = commands[index]
    if (isHere && fault?.how === 'killed before') return kill(me)
    // As the SDK does it where the first answer is lost; only Lambda's client has no retries.
    if (isTwice && name !== 'InvokeCommand') await perform(name, input, send).catch(() => {})
    const output = await perform(name, input, send)
    if (isHere && fault?.how === 'killed after') return kill(me)
    if (isHere) throw new Error('The answer was lost.')
    if (me.dead) throw new Killed()
    return output
  }

  const install = () => {
    for (const { middlewareStack } of [dynamodb(), s3(), lambda(), stepFunctions()])
      (middlewareStack as unknown as Stack).add(
        (next, context) => args => observe(context.commandName, args.input, () => next(args)),
        { step: 'initialize', priority: 'high', name: 'machine' },
      )
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  }

  const step = async (execution: Execution): Promise<void> => {
    const { taskId, generation } = execution.input
    if (execution.state === 'tick') {
      const outcome = await alive('tick', () =>
        tickFunction.handler({ taskId, generation }, contextOf()),
      )
      const states = { again: 'tick', wait: 'park', until: 'pause', end: 'ended' } as const
      Object.assign(execution, {
        outcome,
        state: states[outcome.outcome],
        until: Date.parse(outcome.until),
      })
      return
    }
    const { wakeSeq = 0, fence = 0, waitSeconds = 0 } = execution.outcome ?? {}
    const token = randomUUID()
    Object.assign(execution, { state: 'waiting', token, until: Date.now() + waitSeconds * 1_000 })
    try {
      await alive('park', () =>
        parkFunction.handler({ taskId, generation, wakeSeq, fence, token }, contextOf()),
      )
    } catch (error) {
      // The state machine asks again, with another token.
      if (execution.token === token) Object.assign(execution, { state: 'park', token: '' })
      throw error
    }
  }

  const isReady = ({ state, until }: Execution): boolean =>
    state === 'tick' || state === 'park' || (state !== 'ended' && until <= Date.now())

  let nextSweep = 0

  /** Counts commands from here on, up to a fault. */
  const expect = (next: Fault | undefined, options: { twice?: boolean } = {}) => {
    fault = next
    faulted = undefined
    isTwice = options.twice ?? false
    commands.length = 0
  }

  return {
    alive,
    wrap,
    install,
    commands,
    executions,
    expect,
    /** The command that the fault hit, if it has. */
    faulted: () => faulted,

    begin: (next: Fault | undefined, options: { twice?: boolean } = {}) => {
      expect(next, options)
      executions.clear()
      nextSweep = Date.now() + SWEEP_MS
    },

    /** Lets every execution go as far as it gets without anyone doing anything. */
    settle: async (): Promise<void> => {
      for (;;) {
        const ready = [...executions.values()].find(isReady)
        if (!ready) return
        if (ready.state === 'waiting' || ready.state === 'pause')
          Object.assign(ready, { state: 'tick', token: '' })
        // A function that failed is asked again.
        await step(ready).catch(() => {})
      }
    },

    /** Moves time on to whatever comes next by itself. */
    pass: async (): Promise<void> => {
      const ends = [...executions.values()]
        .filter(({ state }) => state !== 'ended')
        .map(({ until }) => until)
      vi.setSystemTime(Math.min(nextSweep, ...ends))
      if (Date.now() < nextSweep) return
      nextSweep += SWEEP_MS
      await alive('sweep', () => sweepFunction.handler({}, contextOf())).catch(() => {})
    },
  }
}

const contextOf = () =>
  ({ awsRequestId: randomUUID(), getRemainingTimeInMillis: () => 900_000 }) as never
