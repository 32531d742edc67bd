import { describe, expect, it } from 'vitest'
import { AppError } from '../../../lib/core/errors.ts'
import { errorFields } from '../../../lib/core/log.ts'
import { generate } from '../../../lib/llm/generate.ts'
import { openModel } from '../../../lib/llm/provider.ts'
import { failed, KEY, open, request, serve, streamed } from './server.ts'
import { WIRE_NAMES, type WireName } from './wires.ts'

const PROMPT = 'canary prompt: the vault opens at nine'

/** Providers quote keys and prompts in their errors, so the bodies here do too. */
const echo = `You sent ${KEY} and ${PROMPT}.`

/** An error's body as each provider writes it. */
const body = (wire: WireName, message: string, type: string, code: number) => {
  if (wire === 'anthropic') return { type: 'error', error: { type, message } }
  if (wire === 'google') return { error: { code, message, status: type } }
  if (wire === 'xai') return { code: type, error: message }
  return { error: { message, type, code: type, param: null } }
}

const fail = async (
  wire: WireName,
  answer: () => Response | Promise<Response>,
): Promise<AppError> => {
  const { fetch, received } = serve(answer)
  const messages = [{ role: 'user' as const, text: PROMPT }]
  const error = await generate(await open(wire, fetch), request({ messages })).then(
    () => undefined,
    thrown => thrown,
  )
  expect(received).toHaveLength(1)
  expect(JSON.stringify(received)).toContain(PROMPT)
  if (!(error instanceof AppError)) throw new Error('There was no AppError.')
  expectClean(error)
  return error
}

const expectClean = (error: AppError): void => {
  expect(error.cause).toBeUndefined()
  const everything = [
    JSON.stringify(error),
    JSON.stringify(Object.getOwnPropertyNames(error).map(name => Reflect.get(error, name))),
    JSON.stringify(errorFields(error)),
    String(error),
    error.stack,
  ].join('\n')
  expect(everything).not.toContain(KEY)
  expect(everything).not.toContain('canary')
  expect(everything).not.toContain('vault')
}

describe.each(WIRE_NAMES)('a failure of %s', wire => {
  it.each([
    [400, 'bad-request', false],
    [401, 'auth-error', false],
    [403, 'auth-error', false],
    [404, 'bad-request', false],
    [408, 'timeout', true],
    [413, 'context-window', false],
    [422, 'bad-request', false],
    [429, 'rate-limit', true],
    [500, 'server-error', true],
    [502, 'gateway-error', true],
    [503, 'server-overloaded', true],
    [504, 'gateway-error', true],
    [529, 'server-overloaded', true],
  ] as const)('with status %i is %s', async (status, kind, isRetryable) => {
    const error = await fail(wire, failed(status, body(wire, echo, 'some_error', status)))
    expect(error.code).toBe('MODEL_ERROR')
    expect(error.details).toEqual({ provider: wire, status, is_retryable: isRetryable, kind })
  })

  it('says when to try again', async () => {
    const error = await fail(wire, failed(429, body(wire, echo, 'x', 429), { 'retry-after': '17' }))
    expect(error.details).toMatchObject({ kind: 'rate-limit', retry_after_seconds: 17 })
  })

  it('is still read where its body is no JSON', async () => {
    const error = await fail(wire, () => new Response(`<h1>${echo}</h1>`, { status: 502 }))
    expect(error.details).toMatchObject({ status: 502, kind: 'gateway-error', is_retryable: true })
  })

  it('to connect may be tried again', async () => {
    const error = await fail(wire, () => {
      throw new TypeError('fetch failed', { cause: new Error(`connect ECONNREFUSED ${echo}`) })
    })
    expect(error.details).toMatchObject({ status: null, kind: 'gateway-error', is_retryable: true })
  })

  it('within its stream is no answer, even after a call', async () => {
    const calls = [{ id: 'call_1', name: 'get_weather', pieces: ['{"city":"Paris"}'] }]
    for (const [error, kind] of STREAM_ERRORS[wire]) {
      const failure = await fail(wire, streamed(wire, { text: 'Hm.', calls, end: 'done', error }))
      expect(failure.details).toMatchObject({ provider: wire, kind, is_retryable: true })
    }
  })
})

const STREAM_ERRORS: Record<WireName, [unknown, string][]> = {
  openai: [
    [{ code: 'server_error', message: echo, param: null }, 'server-error'],
    [{ code: 'rate_limit_exceeded', message: echo, param: null }, 'rate-limit'],
  ],
  anthropic: [
    [{ type: 'overloaded_error', message: echo }, 'server-overloaded'],
    [{ type: 'api_error', message: echo }, 'server-error'],
  ],
  google: [
    [{ code: 503, status: 'UNAVAILABLE', message: echo }, 'server-overloaded'],
    [{ code: 429, status: 'RESOURCE_EXHAUSTED', message: echo }, 'rate-limit'],
  ],
  xai: [[{ code: 'server_error', message: echo, param: null }, 'server-error']],
  'openai-compatible': [
    [{ message: echo, type: 'server_error', code: null, param: null }, 'server-error'],
  ],
}

describe('a prompt that is too long', () => {
  it.each([
    ['openai', 'Your input exceeds the context window of this model.', 'context_length_exceeded'],
    ['anthropic', 'prompt is too long: 210000 tokens > 200000 maximum', 'invalid_request_error'],
    [
      'google',
      'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
      'INVALID_ARGUMENT',
    ],
    ['xai', "This model's maximum prompt length is 131072 but the request has 140000.", 'x'],
    [
      'openai-compatible',
      "This model's maximum context length is 8192 tokens.",
      'invalid_request_error',
    ],
  ] as const)('is known by the words of %s', async (wire, message, type) => {
    const error = await fail(wire, failed(400, body(wire, `${message} ${echo}`, type, 400)))
    expect(error.details).toMatchObject({ kind: 'context-window', is_retryable: false })
  })
})

describe('what providers say in their own ways', () => {
  it('is a spent quota, which no waiting fills', async () => {
    const error = await fail('openai', failed(429, body('openai', echo, 'insufficient_quota', 429)))
    expect(error.details).toMatchObject({ kind: 'rate-limit', is_retryable: false })
  })

  it('is an invalid key behind a 400', async () => {
    const answer = body('google', 'API key not valid.', 'INVALID_ARGUMENT', 400)
    const error = await fail('google', failed(400, answer))
    expect(error.details).toMatchObject({ kind: 'auth-error', is_retryable: false })
  })

  it('is a delay in the body', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '33.4s' }]
    const answer = { error: { code: 429, message: echo, status: 'RESOURCE_EXHAUSTED', details } }
    const error = await fail('google', failed(429, answer))
    expect(error.details).toMatchObject({ retry_after_seconds: 34 })
  })

  it('is a date to wait for', async () => {
    const until = new Date(Date.now() + 90_000).toUTCString()
    const error = await fail(
      'anthropic',
      failed(429, body('anthropic', echo, 'rate_limit_error', 429), { 'retry-after': until }),
    )
    expect(error.details).toMatchObject({ retry_after_seconds: expect.closeTo(90, -1) })
  })

  it('is an overload before the first word, with a status of its own', async () => {
    const error = { type: 'overloaded_error', message: echo }
    const failure = await fail('anthropic', () => {
      const data = `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`
      return new Response(data, { headers: { 'content-type': 'text/event-stream' } })
    })
    expect(failure.details).toMatchObject({ kind: 'server-overloaded', is_retryable: true })
  })
})

describe('a key that no header can hold', () => {
  it('does not show in the error', async () => {
    const { fetch, received } = serve()
    const reference = { provider: 'anthropic', name: 'claude-sonnet-4-5' } as const
    const model = await openModel(reference, { apiKey: `${KEY}\nmore`, fetch })
    const error = await generate(model, request()).catch(thrown => thrown)
    expect(received).toHaveLength(0)
    expect(error).toBeInstanceOf(AppError)
    expectClean(error)
  })
})
