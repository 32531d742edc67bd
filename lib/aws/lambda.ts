import { type Client, createClient, sender } from './client.ts'
import { endpoint } from './endpoint.ts'
import { encode } from './http.ts'
import { errorOf } from './json-command.ts'

/** Longer than any operation that is awaited may take. */
const SILENCE_MS = 60_000

let client: Client | undefined

/**
 * The Lambda client, which sends nothing twice: an invocation whose answer was lost may have run,
 * and only the call's own record can tell.
 */
export const lambda = (): Client => {
  client ??= createClient({
    name: 'lambda',
    endpoint: () => endpoint('lambda', 'LAMBDA'),
    attempts: 1,
    silenceMs: SILENCE_MS,
  })
  return client
}

export type Invocation = {
  FunctionName: string
  InvocationType: 'Event' | 'RequestResponse'
  Payload: string
}

/** What a function was asked for; `FunctionError` where it threw, or ran out of time. */
export const invoke = /* @__PURE__ */ sender<Invocation, { FunctionError?: string }>(lambda, {
  name: 'Invoke',
  action: 'lambda:InvokeFunction',
  request: ({ FunctionName, InvocationType, Payload }) => ({
    method: 'POST',
    path: `/2015-03-31/functions/${encode(FunctionName)}/invocations`,
    headers: {
      'content-type': 'application/octet-stream',
      'x-amz-invocation-type': InvocationType,
    },
    body: Payload,
  }),
  response: ({ headers }) => {
    const error = headers['x-amz-function-error']
    return error === undefined ? {} : { FunctionError: String(error) }
  },
  error: errorOf,
})
