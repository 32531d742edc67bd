import { setTimeout as sleep } from 'node:timers/promises'
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { setLogSink } from '../../../lib/core/log.ts'
import { type LambdaContext, type LocalLambda, startLambda } from '../../../lib/local/lambda.ts'

type Handler = (event: unknown, context: LambdaContext) => Promise<unknown>

const attempts: Record<string, number> = {}
const MIB = 1024 * 1024

const handlers: Record<string, Handler> = {
  echo: async event => ({ event }),
  silent: async () => undefined,
  context: async (_event, context) => ({
    ...context,
    remaining: context.getRemainingTimeInMillis(),
  }),
  throwing: async () => {
    throw new RangeError('out of range')
  },
  throwingText: async () => Promise.reject('just text'),
  overrunning: async () => sleep(5_000),
  huge: async () => 'x'.repeat(6 * MIB + 200),
  dated: async () => ({ at: new Date(0), gone: undefined, list: [undefined] }),
  flaky: async () => {
    attempts.flaky = (attempts.flaky ?? 0) + 1
    if (attempts.flaky < 3) throw new Error('not yet')
  },
  hopeless: async () => {
    attempts.hopeless = (attempts.hopeless ?? 0) + 1
    throw new TypeError('never')
  },
}

const logged: Record<string, unknown>[] = []
let lambda: LocalLambda
let client: LambdaClient

beforeAll(async () => {
  setLogSink(entry => logged.push(entry))
  lambda = await startLambda({
    functions: name => {
      const handler = handlers[name]
      if (!handler) return undefined
      const timeoutSeconds = name === 'overrunning' ? 0.2 : 30
      return { handler: async () => handler, timeoutSeconds, memoryMb: 512 }
    },
  })
  client = new LambdaClient({
    endpoint: lambda.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  })
})

afterAll(() => lambda.close())

const invoke = async (FunctionName: string, payload?: unknown) => {
  const body = payload === undefined ? {} : { Payload: JSON.stringify(payload) }
  const answer = await client.send(new InvokeCommand({ FunctionName, ...body }))
  return { ...answer, payload: JSON.parse(answer.Payload?.transformToString() ?? '') }
}

test('an invocation returns what the handler returned, as JSON', async () => {
  const answer = await invoke('echo', { text: 'ä✓', list: [1, null] })
  expect(answer).toMatchObject({ StatusCode: 200, ExecutedVersion: '$LATEST' })
  expect(answer.FunctionError).toBeUndefined()
  expect(answer.payload).toEqual({ event: { text: 'ä✓', list: [1, null] } })
  expect((await invoke('echo')).payload).toEqual({ event: {} })
  expect((await invoke('silent')).payload).toBeNull()
  expect((await invoke('dated')).payload).toEqual({ at: '1970-01-01T00:00:00.000Z', list: [null] })
})

test('a function is found by name, ARN, and name with a qualifier', async () => {
  const arn = 'arn:aws:lambda:us-east-1:000000000000:function:echo'
  for (const name of ['echo', arn, `${arn}:$LATEST`, 'echo:1', '000000000000:function:echo']) {
    expect((await invoke(name, 1)).payload).toEqual({ event: 1 })
  }
})

test('the handler learns its name, memory, request and remaining time', async () => {
  const { payload, $metadata } = await invoke('context')
  expect(payload).toMatchObject({
    functionName: 'context',
    memoryLimitInMB: '512',
    functionVersion: '$LATEST',
    awsRequestId: $metadata.requestId,
  })
  expect(payload.remaining).toBeGreaterThan(29_000)
  expect(payload.remaining).toBeLessThanOrEqual(30_000)
})

test('an unknown function is ResourceNotFoundException with 404', async () => {
  const error = await invoke('nobody').catch(thrown => thrown)
  expect(error.name).toBe('ResourceNotFoundException')
  expect(error.$metadata.httpStatusCode).toBe(404)
})

test('what a handler throws is an answer with its type, message and trace', async () => {
  const thrown = await invoke('throwing')
  expect(thrown.StatusCode).toBe(200)
  expect(thrown.FunctionError).toBe('Unhandled')
  expect(thrown.payload).toMatchObject({ errorType: 'RangeError', errorMessage: 'out of range' })
  expect(thrown.payload.trace[0]).toBe('RangeError: out of range')
  const text = await invoke('throwingText')
  expect(text.payload).toEqual({ errorType: 'string', errorMessage: 'just text', trace: [] })
})

test('a handler that overruns its time is answered with Task timed out', async () => {
  const { FunctionError, payload } = await invoke('overrunning')
  expect(FunctionError).toBe('Unhandled')
  expect(payload.errorType).toBe('Sandbox.Timedout')
  expect(payload.errorMessage).toMatch(
    /^RequestId: [\w-]+ Error: Task timed out after 0.20 seconds$/,
  )
})

test('a request of 6 MiB is accepted, and one byte more is RequestTooLargeException', async () => {
  const ofSize = (bytes: number) => 'x'.repeat(bytes - 2)
  expect((await invoke('silent', ofSize(6 * MIB))).StatusCode).toBe(200)
  const error = await invoke('silent', ofSize(6 * MIB + 1)).catch(thrown => thrown)
  expect(error.name).toBe('RequestTooLargeException')
  expect(error.$metadata.httpStatusCode).toBe(413)
})

test('an answer past 6 MiB is an error of the function', async () => {
  const { FunctionError, payload } = await invoke('huge')
  expect(FunctionError).toBe('Unhandled')
  expect(payload.errorType).toBe('Function.ResponseSizeTooLarge')
})

test('a body that is not JSON is InvalidRequestContentException', async () => {
  const command = new InvokeCommand({ FunctionName: 'echo', Payload: '{"cut' })
  await expect(client.send(command)).rejects.toThrow('Could not parse request body into json')
})

const send = (FunctionName: string, payload: unknown = {}) =>
  client.send(
    new InvokeCommand({
      FunctionName,
      Payload: JSON.stringify(payload),
      InvocationType: 'Event',
    }),
  )

test('an event is accepted at once, repeated until it succeeds, and counted while it runs', async () => {
  const answer = await send('flaky')
  expect(answer.StatusCode).toBe(202)
  expect(answer.Payload?.length ?? 0).toBe(0)
  expect(lambda.inFlight()).toBe(1)
  await vi.waitFor(() => expect(lambda.inFlight()).toBe(0), 5_000)
  expect(attempts.flaky).toBe(3)
  expect(lambda.invocations().flaky).toBe(3)
})

test('an event that always fails is tried three times, then logged', async () => {
  await send('hopeless')
  await vi.waitFor(() => expect(lambda.inFlight()).toBe(0), 5_000)
  expect(attempts.hopeless).toBe(3)
  expect(logged).toContainEqual(
    expect.objectContaining({
      event: 'event-dropped',
      function: 'hopeless',
      errorType: 'TypeError',
    }),
  )
})

test('an event past 1 MiB is refused, and so is one for nobody', async () => {
  expect((await send('silent', 'x'.repeat(MIB - 2))).StatusCode).toBe(202)
  await expect(send('silent', 'x'.repeat(MIB - 1))).rejects.toMatchObject({
    name: 'RequestTooLargeException',
  })
  await expect(send('nobody')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
})

test('invoking without HTTP gives the same answers, with our own error codes', async () => {
  const event = { at: new Date(0) }
  const answer = await lambda.invoke('echo', event)
  expect(answer.payload).toEqual({ event: { at: '1970-01-01T00:00:00.000Z' } })
  await expect(lambda.invoke('nobody', {})).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('a page in a browser cannot invoke a function', async () => {
  const url = `${lambda.url}/2015-03-31/functions/echo/invocations`
  const answer = await fetch(url, {
    method: 'POST',
    body: '{}',
    headers: { origin: 'http://evil.example' },
  })
  expect(answer.status).toBe(403)
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(200)
})

test('close ends at once, although a handler still runs', async () => {
  const other = await startLambda({
    functions: () => ({
      handler: async () => async () => sleep(20_000, undefined, { ref: false }),
      timeoutSeconds: 900,
      memoryMb: 128,
    }),
  })
  const running = other.invoke('any', {})
  const before = Date.now()
  await other.close()
  expect(Date.now() - before).toBeLessThan(1_000)
  expect((await running).functionError).toBe('Unhandled')
})
