import {
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  InvalidToken,
  TaskTimedOut,
} from '@aws-sdk/client-sfn'
import { setPath } from './json-path.ts'
import { short } from './label.ts'
import type { Run } from './run.ts'
import {
  attemptsOf,
  choose,
  type Definition,
  delayOf,
  fill,
  matches,
  nextOf,
  type Retrier,
  type State,
  StateError,
  select,
  timeoutMs,
  waitMs,
} from './states.ts'

type Execution = {
  name: string
  input: string
  state: string
  status: 'RUNNING' | 'SUCCEEDED' | 'FAILED'
  startedAt: number
  events: number
}

/** https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html: events of a history. */
const MAX_EVENTS = 25_000
/** States that an execution passes without end would keep a run from ever ending. */
const LATE_MS = 90_000
/** Until the machine notices that it will not hear of a function any more. */
const LOST_MS = 5_000
/** A token is known for so long that describing it is told of its end, not of an error. */
const UNSEEN_MS = 5_000

/** Step Functions, as far as our own definition goes: each execution walks by itself. */
export const createMachine = (run: Run, definition: Definition) => {
  const { clock, scheduler, mishaps, trace, random, functions } = run
  const executions = new Map<string, Execution>()
  const tokens = new Map<
    string,
    { succeed: (output: unknown) => void; fail: (error: Error) => void }
  >()
  let made = 0

  const walk = async (execution: Execution): Promise<void> => {
    let data: unknown = JSON.parse(execution.input)
    let name = definition.StartAt
    for (;;) {
      execution.state = name
      execution.events += 2
      await scheduler.point(`${short(execution.name)} enters ${name}`)
      const state = definition.States[name]
      if (!state) return end(execution, 'FAILED', `There is no state ${name}.`)
      try {
        if (execution.events > MAX_EVENTS)
          throw new StateError('States.Runtime', 'too long a history')
        const next = await pass(execution, state, data)
        if ('status' in next) return end(execution, next.status, name)
        name = next.name
        data = next.data
      } catch (error) {
        if (error instanceof StateError)
          return end(execution, 'FAILED', `${error.name} ${error.message}`)
        throw error
      }
    }
  }

  const end = (execution: Execution, status: 'SUCCEEDED' | 'FAILED', why: string): void => {
    execution.status = status
    trace.add(undefined, `${short(execution.name)} has ${status}: ${why}`)
  }

  type Passed = { name: string; data: unknown } | { status: 'SUCCEEDED' | 'FAILED' }

  const pass = async (execution: Execution, state: State, data: unknown): Promise<Passed> => {
    switch (state.Type) {
      case 'Task':
        return task(execution, state, data)
      case 'Choice':
        return { name: choose(state, data), data }
      case 'Wait':
        await clock.sleep(waitMs(state, data, clock.now()))
        return { name: nextOf(state), data }
      case 'Pass':
        return { name: nextOf(state), data }
      case 'Succeed':
        return { status: 'SUCCEEDED' }
      case 'Fail':
        return { status: 'FAILED' }
      default:
        throw new Error(`The simulation can't walk a state of type ${state.Type}: teach it.`)
    }
  }

  const task = async (execution: Execution, state: State, data: unknown): Promise<Passed> => {
    const attempts = new Map<Retrier, number>()
    for (;;) {
      try {
        const result = await attempt(execution, state, data)
        return { name: nextOf(state), data: setPath(data, state.ResultPath, select(state, result)) }
      } catch (error) {
        if (!(error instanceof StateError) || error.name === 'States.Runtime') throw error
        execution.events += 2
        trace.add(undefined, `${short(execution.name)} ${error.name}: ${error.message}`)
        const retrier = state.Retry?.find(({ ErrorEquals }) => matches(ErrorEquals, error))
        const tried = retrier ? (attempts.get(retrier) ?? 0) : 0
        if (retrier && tried < attemptsOf(retrier)) {
          attempts.set(retrier, tried + 1)
          await clock.sleep(delayOf(retrier, tried, random))
          continue
        }
        const catcher = state.Catch?.find(({ ErrorEquals }) => matches(ErrorEquals, error))
        if (!catcher) throw error
        const output = { Error: error.name, Cause: error.message }
        return { name: catcher.Next, data: setPath(data, catcher.ResultPath, output) }
      }
    }
  }

  const attempt = (execution: Execution, state: State, data: unknown): Promise<unknown> => {
    const isToken = state.Resource === 'arn:aws:states:::lambda:invoke.waitForTaskToken'
    if (!isToken && state.Resource !== 'arn:aws:states:::lambda:invoke')
      throw new Error(`The simulation does not know ${state.Resource}: teach it.`)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const token = `token-${++made}`
    const { FunctionName, Payload } = fill(state.Parameters, data, token) as {
      FunctionName: string
      Payload: unknown
    }
    const timer = clock.add(timeoutMs(state, data), () =>
      reject(new StateError('States.Timeout', `${execution.state} took too long`)),
    )
    if (isToken) tokens.set(token, { succeed: resolve, fail: reject })
    invoke(execution, FunctionName, Payload).then(result => {
      if (!isToken) resolve(result)
    }, reject)
    return promise.finally(() => {
      clock.remove(timer)
      tokens.delete(token)
    })
  }

  /** A function is invoked at least once; the machine may be told of a failure, and it runs late. */
  const invoke = async (execution: Execution, name: string, payload: unknown): Promise<unknown> => {
    const about = short(execution.name).replace('task_', '')
    const again = () =>
      clock.add(random.around(LATE_MS), () => {
        void functions.invoke(name, payload, about)
      })
    if (mishaps.happens('invocation refused'))
      throw new StateError('Lambda.TooManyRequestsException', 'Rate exceeded')
    if (mishaps.happens('function invoked late')) {
      again()
      throw new StateError('Lambda.Unknown', 'the connection broke')
    }
    if (mishaps.happens('function lost while it ran')) {
      void functions.invokeFrozen(name, payload, about)
      await clock.sleep(random.around(LOST_MS))
      throw new StateError('Lambda.Unknown', 'the connection broke')
    }
    if (mishaps.happens('function invoked twice')) again()
    const { payload: answer, error } = await functions.invoke(name, payload, about)
    if (error) throw new StateError(error.type, error.message)
    return { StatusCode: 200, ExecutedVersion: '$LATEST', Payload: answer }
  }

  const nameOf = (arn: string): string => arn.split(':').at(-1) ?? ''

  const tokenOf = (token: string) => {
    const waiting = tokens.get(token)
    if (waiting) return waiting
    const message = 'Task Timed Out'
    // AWS tells the two apart by how long ago it was.
    throw random.chance(0.5)
      ? new TaskTimedOut({ message, $metadata: {} })
      : new InvalidToken({ message, $metadata: {} })
  }

  const answers: Record<string, ((input: Record<string, string>) => object) | undefined> = {
    StartExecutionCommand: ({ name = '', input = '' }) => {
      const known = executions.get(name)
      if (known?.status === 'RUNNING' && known.input === input) return { executionArn: name }
      if (known) throw new ExecutionAlreadyExists({ message: name, $metadata: {} })
      const execution: Execution = {
        name,
        input,
        state: definition.StartAt,
        status: 'RUNNING',
        startedAt: clock.now(),
        events: 1,
      }
      executions.set(name, execution)
      run.background(() => walk(execution))
      return { executionArn: name }
    },
    DescribeExecutionCommand: ({ executionArn = '' }) => {
      const execution = executions.get(nameOf(executionArn))
      const isNew = execution && clock.now() - execution.startedAt < UNSEEN_MS
      if (!execution || (isNew && mishaps.happens('execution not seen yet')))
        throw new ExecutionDoesNotExist({ message: executionArn, $metadata: {} })
      return { status: execution.status }
    },
    SendTaskSuccessCommand: ({ taskToken = '', output = '{}' }) => {
      tokenOf(taskToken).succeed(JSON.parse(output))
      tokens.delete(taskToken)
      return {}
    },
    SendTaskFailureCommand: ({ taskToken = '', error = '', cause = '' }) => {
      tokenOf(taskToken).fail(new StateError(error, cause))
      tokens.delete(taskToken)
      return {}
    },
  }

  return {
    answers,
    executions,
    running: (): Execution[] =>
      [...executions.values()].filter(({ status }) => status === 'RUNNING'),
  }
}
