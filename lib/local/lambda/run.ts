import { setTimeout as sleep } from 'node:timers/promises'
import { errorFields, log } from '../../core/log.ts'
import { type LambdaContext, lambdaContext } from './context.ts'

/** https://docs.aws.amazon.com/lambda/latest/dg/API_Invoke.html: 6 MB, for events 1 MB. */
export const MAX_SYNC_PAYLOAD_BYTES = 6 * 1024 * 1024
export const MAX_EVENT_PAYLOAD_BYTES = 1024 * 1024
/** Lambda grants an answer 100 bytes more than a request, and names this figure in its error. */
const MAX_RESPONSE_BYTES = MAX_SYNC_PAYLOAD_BYTES + 100

export type LocalFunction = {
  /** Loads the handler, on every invocation: a module that failed to load is tried again. */
  handler: () => Promise<(event: unknown, context: LambdaContext) => Promise<unknown>>
  timeoutSeconds: number
  memoryMb: number
}

export type NamedFunction = LocalFunction & { name: string }

export type FunctionError = { errorType: string; errorMessage: string; trace?: string[] }

export type InvokeResult = {
  requestId: string
  /** What the handler returned, after a passage through JSON; nothing becomes null. */
  payload: unknown
  /** Set where the handler threw or overran its time; the payload is then a FunctionError. */
  functionError?: 'Unhandled'
}

type Run = {
  target: NamedFunction
  /** The event as JSON text. */
  text: string
  requestId: string
  /** Ends the wait for the answer when the service closes. */
  signal: AbortSignal
}

/** Runs a function once; what its handler throws is an answer too. */
export const runOnce = async (run: Run): Promise<InvokeResult> => {
  const { target, requestId, signal } = run
  const limitMs = target.timeoutSeconds * 1_000
  const answered = new AbortController()
  // AWS ends the process of a function that overruns. We share ours with it, so here it runs on,
  // unheard; whoever renews leases or holds locks in a handler must look at the remaining time.
  const overrun = sleep(limitMs, timedOut(run), {
    signal: AbortSignal.any([answered.signal, signal]),
  }).catch(() => SHUT_DOWN)
  try {
    const answer = await Promise.race([callHandler(run, Date.now() + limitMs), overrun])
    if (typeof answer !== 'string') return failed(requestId, answer)
    if (Buffer.byteLength(answer) > MAX_RESPONSE_BYTES) return failed(requestId, TOO_LARGE)
    return { requestId, payload: JSON.parse(answer) }
  } catch (error) {
    log('error', 'function-failed', { function: target.name, requestId, ...errorFields(error) })
    return failed(requestId, asFunctionError(error))
  } finally {
    answered.abort()
  }
}

/** The ARN under which a function of this name is known here. */
export const lambdaArn = (name: string): string =>
  `arn:aws:lambda:us-east-1:000000000000:function:${name}`

/** The name in `name`, `name:qualifier`, `account:function:name` or a whole ARN. */
export const functionName = (nameOrArn: string): string => {
  const [, afterFunction] = nameOrArn.split(':function:')
  return (afterFunction ?? nameOrArn).split(':')[0] ?? nameOrArn
}

/** The handler's answer as JSON text. */
const callHandler = async ({ target, text, requestId }: Run, deadline: number): Promise<string> => {
  const { name, memoryMb } = target
  const handler = await target.handler()
  const context = lambdaContext({ name, arn: lambdaArn(name), memoryMb, requestId, deadline })
  const answer = await handler(JSON.parse(text), context)
  return JSON.stringify(answer ?? null) ?? 'null'
}

const failed = (requestId: string, payload: FunctionError): InvokeResult => ({
  requestId,
  payload,
  functionError: 'Unhandled',
})

const timedOut = ({ requestId, target }: Run): FunctionError => {
  const seconds = target.timeoutSeconds.toFixed(2)
  return {
    errorType: 'Sandbox.Timedout',
    errorMessage: `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`,
  }
}

const TOO_LARGE: FunctionError = {
  errorType: 'Function.ResponseSizeTooLarge',
  errorMessage: `Response payload size exceeded maximum allowed payload size (${MAX_RESPONSE_BYTES} bytes).`,
}

const SHUT_DOWN: FunctionError = {
  errorType: 'Sandbox.Failure',
  errorMessage: 'The local Lambda service is shutting down.',
}

/** As Lambda's runtime for Node reports what a handler threw. */
const asFunctionError = (error: unknown): FunctionError => {
  if (!(error instanceof Error)) {
    return { errorType: typeof error, errorMessage: String(error), trace: [] }
  }
  const { name, message, stack = '' } = error
  return { errorType: name, errorMessage: message, trace: stack.split('\n') }
}
