import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { hasCode } from '../../core/errors.ts'
import { type States, WAIT_GOES_ON } from './definition.ts'
import { namedError, terminalError } from './error.ts'
import { isTooLarge, MAX_DATA_BYTES, MAX_TIMER_SECONDS } from './limits.ts'
import type { Tokens } from './tokens.ts'

/** Invokes a function by its name or ARN; throws as the Lambda API would refuse. */
export type InvokeFunction = (
  functionNameOrArn: string,
  payload: unknown,
) => Promise<{ payload: unknown; functionError?: string }>

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Handler = (input: Json) => Promise<Json>

type Options = {
  states: States
  tokens: Tokens
  invoke: InvokeFunction
  /** What stands in a token task's payload where its token belongs. */
  tokenPlaceholder: string
  /** Aborted when the execution is stopped, with the error that its tasks then fail with. */
  signal: AbortSignal
}

/** Runs each Task and Wait state of one execution, in place of the interpreter's own handlers. */
export const taskHandlers = (options: Options): Record<string, Handler> =>
  Object.fromEntries(
    Object.entries(options.states)
      .filter(([, { Type }]) => Type === 'Task' || Type === 'Wait')
      .map(([name, state]) => [name, handlerOf(state, options)]),
  )

const handlerOf = (state: States[string], options: Options): Handler => {
  if (state.Type === 'Wait') return input => wait(WaitInput.parse(input), options.signal)
  if (state.TimeoutSecondsPath === undefined) return input => runTask(input, state, options)
  return wrapped => {
    const { input, timeoutSeconds } = TimedInput.parse(wrapped)
    checkTimer(timeoutSeconds)
    return runTask(input, { ...state, TimeoutSeconds: timeoutSeconds }, options)
  }
}

/** What a task with a timeout from a path is given: see `timedByPath`. */
const TimedInput = z.object({ input: z.json(), timeoutSeconds: z.number() })

const runTask = (input: Json, state: States[string], options: Options): Promise<Json> => {
  const { Resource = '' } = state
  if (Resource.endsWith('.waitForTaskToken')) return awaitToken(input, state, options)
  if (Resource.endsWith(':lambda:invoke')) return invokeAndWrap(input, options)
  return invokeOrThrow(Resource, input, options)
}

const InvokeParameters = z.looseObject({
  FunctionName: z.string(),
  Payload: z.unknown().optional(),
})

/** The optimised integration's result: the function's answer among facts about the request. */
const invokeAndWrap = async (input: Json, options: Options): Promise<Json> => {
  const { FunctionName, Payload = {} } = InvokeParameters.parse(input)
  const answer = await invokeOrThrow(FunctionName, Payload, options)
  return { ExecutedVersion: '$LATEST', Payload: answer, StatusCode: 200 }
}

/** Waits for the token's answer, which may come before the invoked function has returned. */
const awaitToken = (input: Json, state: States[string], options: Options): Promise<Json> => {
  const { tokens, tokenPlaceholder, signal } = options
  // Stopping ends the pause before a retry, after which the interpreter comes here once more.
  signal.throwIfAborted()
  const { TimeoutSeconds, HeartbeatSeconds } = state
  const { token, result } = tokens.open({
    ...(TimeoutSeconds !== undefined && { timeoutSeconds: TimeoutSeconds }),
    ...(HeartbeatSeconds !== undefined && { heartbeatSeconds: HeartbeatSeconds }),
    signal,
  })
  const filled = JSON.parse(JSON.stringify(input).replaceAll(tokenPlaceholder, token))
  const { FunctionName, Payload = {} } = InvokeParameters.parse(filled)
  invokeOrThrow(FunctionName, Payload, options).catch((error: Error) => {
    // Too late once the token has been answered: the function may fail after that.
    if (tokens.isOpen(token)) tokens.fail(token, error)
  })
  return result as Promise<Json>
}

/** The function's answer; throws by the names that Retry and Catch know. */
const invokeOrThrow = async (
  functionNameOrArn: string,
  payload: unknown,
  { invoke, signal }: Options,
): Promise<Json> => {
  checkSize(payload)
  // A loop of functions that never wait would otherwise keep the process from all other work.
  await setImmediate()
  signal.throwIfAborted()
  const invocation = invoke(functionNameOrArn, payload).catch((error: unknown) => {
    throw namedError(`Lambda.${exceptionName(error)}`, String(error))
  })
  const answer = await unlessAborted(invocation, signal)
  if (answer.functionError !== undefined) {
    const { errorType = 'Lambda.Unknown' } = FunctionError.parse(answer.payload)
    throw namedError(errorType, JSON.stringify(answer.payload))
  }
  checkSize(answer.payload)
  return answer.payload as Json
}

const FunctionError = z.looseObject({ errorType: z.string().optional() }).catch({})

const exceptionName = (error: unknown): string => {
  if (hasCode(error, 'NOT_FOUND')) return 'ResourceNotFoundException'
  if (hasCode(error, 'TOO_MANY_REQUESTS')) return 'TooManyRequestsException'
  if (hasCode(error, 'PAYLOAD_TOO_LARGE')) return 'RequestTooLargeException'
  const name = error instanceof Error ? error.name : ''
  return name.endsWith('Exception') ? name : 'ServiceException'
}

const checkSize = (value: unknown): void => {
  if (!isTooLarge(JSON.stringify(value) ?? '')) return
  const message = `A payload or a result is larger than ${MAX_DATA_BYTES} bytes.`
  throw terminalError('States.DataLimitExceeded', message)
}

/** A time that cannot be split, since nobody would know how much of it has passed. */
const checkTimer = (seconds: number): void => {
  if (seconds <= MAX_TIMER_SECONDS) return
  throw terminalError('States.Runtime', `${seconds} seconds are too long here.`)
}

const WaitInput = z.object({
  input: z.json(),
  seconds: z.number().optional(),
  until: z.string().optional(),
})

/** Passes the input on when the time has come; never early, as a timer may be by a millisecond. */
const wait = async (
  { input, seconds = 0, until }: z.infer<typeof WaitInput>,
  signal: AbortSignal,
): Promise<Json> => {
  const end = until === undefined ? Date.now() + seconds * 1_000 : Date.parse(until)
  if (Number.isNaN(end)) throw terminalError('States.Runtime', `${until} is not a timestamp.`)
  for (let left = end - Date.now(); left > 0; left = end - Date.now()) {
    const isTooLong = left > MAX_TIMER_SECONDS * 1_000
    if (until === undefined) checkTimer(seconds)
    // A part of the time, which leaves the interpreter's own timer a day.
    const part = isTooLong ? (MAX_TIMER_SECONDS - 86_400) * 1_000 : left
    await sleep(part, undefined, { signal })
    if (isTooLong) throw namedError(WAIT_GOES_ON, 'The time to wait for is further away.')
  }
  return input
}

/** The work's outcome, or the signal's reason as soon as it is aborted; the work itself runs on. */
const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
