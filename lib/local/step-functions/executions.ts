import { randomUUID } from 'node:crypto'
import type { StateMachine } from 'aws-local-stepfunctions'
import { errorFields, log } from '../../core/log.ts'
import type { States } from './definition.ts'
import { namedError, terminalError } from './error.ts'
import { createHistory, type History } from './history.ts'
import { isTooLarge, MAX_DATA_BYTES } from './limits.ts'
import { type InvokeFunction, taskHandlers } from './tasks.ts'
import type { Tokens } from './tokens.ts'

/** AWS remembers a name for 90 days; here the latest ones, so that a long run keeps its memory. */
const MAX_ENDED = 10_000
/** How many ended executions keep the events of their history. */
const MAX_ENDED_WITH_HISTORY = 100

export type Execution = {
  name: string
  arn: string
  input: string
  startedAt: number
  history: History
  stop: (outcome: Outcome) => void
} & (Running | (Outcome & { stoppedAt: number }))

type Running = { status: 'RUNNING' }

export type Outcome =
  | { status: 'SUCCEEDED'; output: string }
  | { status: 'FAILED' | 'ABORTED' | 'TIMED_OUT'; error?: string; cause?: string }

type Options = {
  machine: StateMachine
  states: States
  stateMachineArn: string
  tokens: Tokens
  invoke: InvokeFunction
}

export type Executions = ReturnType<typeof createExecutions>

/** The executions of one state machine, since this process started. */
export const createExecutions = (options: Options) => {
  const { machine, states, stateMachineArn, tokens, invoke } = options
  const all = new Map<string, Execution>()
  const ended: Execution[] = []
  const tokenPlaceholder = `token-${randomUUID()}`
  let forgottenTransitions = 0

  const arnOf = (name: string) =>
    `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`

  /** Starts an execution, or returns the running one of that name and that very input. */
  const start = (name: string, input: string): Execution => {
    const existing = all.get(arnOf(name))
    if (existing?.status === 'RUNNING' && existing.input === input) return existing
    if (existing) {
      throw namedError('ExecutionAlreadyExists', `Execution Already Exists: '${existing.arn}'`)
    }
    const execution = run(name, input)
    all.set(execution.arn, execution)
    return execution
  }

  const run = (name: string, input: string): Execution => {
    const stopping = new AbortController()
    const history = createHistory(states)
    const arn = arnOf(name)
    const started = machine.run(JSON.parse(input), {
      overrides: {
        taskResourceLocalHandlers: taskHandlers({
          states,
          tokens,
          invoke,
          tokenPlaceholder,
          signal: stopping.signal,
        }),
      },
      context: {
        Execution: { Id: arn, Name: name },
        StateMachine: { Id: stateMachineArn, Name: stateMachineArn.split(':').at(-1) },
        Task: { Token: tokenPlaceholder },
      },
    })

    const settle = (outcome: Outcome) => {
      if (execution.status !== 'RUNNING') return
      history.record(ENDINGS[outcome.status])
      Object.assign(execution, outcome, { stoppedAt: Date.now() })
      forget(execution)
    }
    const stop = (outcome: Outcome) => {
      settle(outcome)
      stopping.abort(terminalError('States.Aborted', 'The execution was stopped.'))
      started.abort()
    }
    const execution: Execution = {
      name,
      arn,
      input,
      startedAt: Date.now(),
      history,
      stop,
      status: 'RUNNING',
    }
    history.record('ExecutionStarted')
    Promise.all([outcomeOf(started.result), follow(started.eventLogs, execution)])
      .then(([outcome]) => settle(outcome))
      .catch((error: unknown) => log('error', 'execution-lost', { name, ...errorFields(error) }))
    return execution
  }

  const forget = (execution: Execution) => {
    ended.push(execution)
    ended.at(-MAX_ENDED_WITH_HISTORY - 1)?.history.clear()
    const oldest = ended.length > MAX_ENDED ? ended.shift() : undefined
    if (!oldest) return
    all.delete(oldest.arn)
    forgottenTransitions += oldest.history.transitions()
  }

  const list = (): Execution[] => [...all.values()]

  return {
    start,
    find: (arn: string): Execution => {
      const execution = all.get(arn)
      if (execution) return execution
      throw namedError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`)
    },
    list,
    running: (): number => list().filter(({ status }) => status === 'RUNNING').length,
    transitions: (): number =>
      list().reduce((sum, { history }) => sum + history.transitions(), forgottenTransitions),
    stopAll: (): void => {
      for (const execution of list()) execution.stop({ status: 'ABORTED' })
    },
  }
}

const ENDINGS = {
  SUCCEEDED: 'ExecutionSucceeded',
  FAILED: 'ExecutionFailed',
  ABORTED: 'ExecutionAborted',
  TIMED_OUT: 'ExecutionTimedOut',
} satisfies Record<Outcome['status'], string>

type Started = ReturnType<StateMachine['run']>

/** Writes the history as it happens, and ends the execution that fills it. */
const follow = async (events: Started['eventLogs'], execution: Execution): Promise<void> => {
  for await (const event of events) {
    execution.history.add(event)
    if (!execution.history.isFull()) continue
    const cause = 'The execution reached the maximum number of history events (25000).'
    execution.stop({ status: 'FAILED', error: 'States.Runtime', cause })
  }
}

const outcomeOf = async (result: Started['result']): Promise<Outcome> => {
  try {
    const output = JSON.stringify(await result)
    if (!isTooLarge(output)) return { status: 'SUCCEEDED', output }
    const cause = `The execution's output is larger than ${MAX_DATA_BYTES} bytes.`
    return { status: 'FAILED', error: 'States.DataLimitExceeded', cause }
  } catch (error) {
    return failureOf(error)
  }
}

/** The interpreter wraps what ended an execution; the wrapped error has the name that AWS shows. */
const failureOf = (error: unknown): Outcome => {
  if (!(error instanceof Error)) return { status: 'FAILED', cause: String(error) }
  if (error.name === 'ExecutionAbortedError') return { status: 'ABORTED' }
  if (error.name === 'ExecutionTimeoutError') return { status: 'TIMED_OUT' }
  const { name, message } = error.cause instanceof Error ? error.cause : error
  return { status: 'FAILED', error: name, cause: message }
}
