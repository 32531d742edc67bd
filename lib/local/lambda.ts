import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { provideAwsLambda } from './lambda/response-stream.ts'
import {
  type FunctionError,
  functionName,
  type InvokeResult,
  type LocalFunction,
  lambdaArn,
  MAX_EVENT_PAYLOAD_BYTES,
  MAX_SYNC_PAYLOAD_BYTES,
  type NamedFunction,
  runOnce,
} from './lambda/run.ts'
import { runStream, type Streamed } from './lambda/run-stream.ts'
import { type Invoke, serveLambda } from './lambda/server.ts'

/** Lambda runs a failing event up to two more times, after one and two minutes; here soon. */
const EVENT_RETRY_DELAYS_MS = [200, 400]

export type { LambdaContext } from './lambda/context.ts'
export type { FunctionError, InvokeResult, LocalFunction } from './lambda/run.ts'
export type { Streamed } from './lambda/run-stream.ts'
export type { Invoke } from './lambda/server.ts'

export type LocalLambda = {
  url: string
  port: number
  invoke: Invoke
  /** Runs a function that streams; resolves when it begins to answer, or fails before. */
  stream: (name: string, event: unknown) => Promise<Streamed>
  /** Breaks off all streams. */
  endStreams: () => void
  /** Invocations that have no answer yet, and accepted events that have not ended. */
  inFlight: () => number
  /** How often each function was run since the start, by name; repeats of an event count. */
  invocations: () => Record<string, number>
  close: () => Promise<void>
}

type Options = { functions: (name: string) => LocalFunction | undefined; port?: number }

/**
 * Starts the Lambda Invoke API on 127.0.0.1 in front of functions of this process. It checks no
 * signatures, and nothing but this machine reaches it. There is no limit on concurrency.
 */
export const startLambda = async ({ functions, port = 0 }: Options): Promise<LocalLambda> => {
  const counts: Record<string, number> = {}
  const closing = new AbortController()
  const { signal } = closing
  const streaming = new AbortController()
  let inFlight = 0
  provideAwsLambda()

  const find = (nameOrArn: string): NamedFunction => {
    const name = functionName(nameOrArn)
    const found = functions(name)
    if (found) return { ...found, name }
    throw new AppError('NOT_FOUND', `Function not found: ${lambdaArn(name)}`)
  }

  const tracked = async <T>(work: () => Promise<T>): Promise<T> => {
    inFlight++
    try {
      return await work()
    } finally {
      inFlight--
    }
  }

  const count = ({ name }: NamedFunction) => {
    counts[name] = (counts[name] ?? 0) + 1
  }

  const run = (target: NamedFunction, text: string, requestId: string) => {
    count(target)
    return runOnce({ target, text, requestId, signal })
  }

  const invoke: Invoke = async (nameOrArn, event) => {
    const target = find(nameOrArn)
    const text = serialise(event, MAX_SYNC_PAYLOAD_BYTES)
    return tracked(() => run(target, text, randomUUID()))
  }

  const stream: LocalLambda['stream'] = async (nameOrArn, event) => {
    const target = find(nameOrArn)
    count(target)
    const { began, ended } = runStream({
      target,
      event,
      requestId: randomUUID(),
      signal: AbortSignal.any([signal, streaming.signal]),
    })
    tracked(() => ended)
    return began
  }

  /** Accepts an event, to be run after this returns; throws only for its name and its size. */
  const enqueue = (nameOrArn: string, event: unknown): { requestId: string } => {
    const target = find(nameOrArn)
    const text = serialise(event, MAX_EVENT_PAYLOAD_BYTES)
    const requestId = randomUUID()
    tracked(() => runEvent(() => run(target, text, requestId), target.name, signal))
    return { requestId }
  }

  const server = await serveLambda({ invoke, enqueue, port })
  return {
    ...server,
    invoke,
    stream,
    endStreams: () => streaming.abort(),
    inFlight: () => inFlight,
    invocations: () => ({ ...counts }),
    close: async () => {
      closing.abort()
      await server.close()
    },
  }
}

/** Runs an event until it succeeds or its attempts are used up; never throws. */
const runEvent = async (
  attempt: () => Promise<InvokeResult>,
  name: string,
  signal: AbortSignal,
): Promise<void> => {
  // The caller has its 202 before the function starts.
  await sleep(0)
  for (const delayMs of [...EVENT_RETRY_DELAYS_MS, undefined]) {
    const { requestId, functionError, payload } = await attempt()
    if (functionError === undefined || signal.aborted) return
    if (delayMs === undefined) {
      const { errorType } = payload as FunctionError
      log('error', 'event-dropped', { function: name, requestId, errorType })
      return
    }
    await sleep(delayMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
  }
}

const serialise = (event: unknown, maxBytes: number): string => {
  const text = JSON.stringify(event ?? {})
  if (Buffer.byteLength(text) <= maxBytes) return text
  throw new AppError(
    'PAYLOAD_TOO_LARGE',
    `Request must be smaller than ${maxBytes} bytes for the InvokeFunction operation`,
  )
}
