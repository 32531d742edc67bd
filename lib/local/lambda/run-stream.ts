import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorFields, log } from '../../core/log.ts'
import type { StreamEvent, StreamingHandler } from '../../http/streaming-handler.ts'
import { lambdaContext } from './context.ts'
import { createResponseStream, type Metadata } from './response-stream.ts'
import { lambdaArn, type NamedFunction } from './run.ts'

/** What a streaming function answers: nothing but that it failed, before it said anything. */
export type Streamed = { metadata: Metadata; body: Readable } | { functionError: 'Unhandled' }

type Run = {
  target: NamedFunction
  event: unknown
  requestId: string
  /** Ends the stream when the service closes. */
  signal: AbortSignal
}

/**
 * Runs a streaming function. `began` settles with its status and headers, `ended` once it has
 * returned, or its time is up: then its stream breaks off.
 */
export const runStream = (run: Run): { began: Promise<Streamed>; ended: Promise<void> } => {
  const { promise: began, resolve } = Promise.withResolvers<Streamed>()
  const { responseStream, body } = createResponseStream(metadata => resolve({ metadata, body }))
  const { target, requestId, event, signal } = run
  const limitMs = target.timeoutSeconds * 1_000
  const returned = new AbortController()
  sleep(limitMs, undefined, { signal: AbortSignal.any([returned.signal, signal]) })
    .then(() => log('error', 'function-timed-out', { function: target.name, requestId }))
    .catch(() => {})
    .finally(() => {
      if (!returned.signal.aborted) body.destroy()
    })

  const call = async () => {
    try {
      const handler = (await target.handler()) as unknown as StreamingHandler
      const { name, memoryMb } = target
      const deadline = Date.now() + limitMs
      const context = lambdaContext({ name, arn: lambdaArn(name), memoryMb, requestId, deadline })
      await handler(structuredClone(event) as StreamEvent, responseStream, context as never)
    } catch (error) {
      log('error', 'function-failed', { function: target.name, requestId, ...errorFields(error) })
      resolve({ functionError: 'Unhandled' })
      body.destroy()
    } finally {
      returned.abort()
    }
  }
  return { began, ended: call() }
}
