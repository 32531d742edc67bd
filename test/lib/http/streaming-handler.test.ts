import { text } from 'node:stream/consumers'
import { setCookie } from 'hono/cookie'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../lib/core/errors.ts'
import { setLogSink } from '../../../lib/core/log.ts'
import { createApp } from '../../../lib/http/app.ts'
import {
  CARRIED_AUTHORIZATION,
  type StreamEvent,
  streamingHandlerOf,
} from '../../../lib/http/streaming-handler.ts'
import {
  createResponseStream,
  type Metadata,
  provideAwsLambda,
} from '../../../lib/local/lambda/response-stream.ts'

setLogSink(() => {})
provideAwsLambda()

const app = createApp()
  .get('/echo', context => context.json(Object.fromEntries(context.req.raw.headers)))
  .get('/cookies', context => {
    setCookie(context, 'a', '1')
    setCookie(context, 'b', '2')
    return context.body(null, 204)
  })
  .get('/refused', () => {
    throw new AppError('NOT_FOUND', 'There is nothing.')
  })
const handler = streamingHandlerOf(app)

const ask = async (rawPath: string, parts: Partial<StreamEvent> = {}) => {
  let said: Metadata | undefined
  const { responseStream, body } = createResponseStream(metadata => {
    said = metadata
  })
  const event: StreamEvent = {
    rawPath,
    rawQueryString: '',
    headers: { host: 'function.url' },
    requestContext: { http: { method: 'GET', sourceIp: '192.0.2.1' } },
    ...parts,
  }
  const [answer] = await Promise.all([text(body), handler(event, responseStream, {} as never)])
  return { said, answer }
}

const echo = async (headers: Record<string, string>, cookies?: string[]) => {
  const { answer } = await ask('/echo', { headers, ...(cookies ? { cookies } : {}) })
  return JSON.parse(answer) as Record<string, string>
}

describe('the handler of a function that streams', () => {
  it('answers with status, headers and cookies, with a body and without', async () => {
    const { said, answer } = await ask('/cookies')
    expect(said).toMatchObject({ statusCode: 204, cookies: ['a=1; Path=/', 'b=2; Path=/'] })
    expect(said?.headers).not.toHaveProperty('set-cookie')
    expect(answer).toBe('')
  })

  it('refuses in the envelope, before anything is streamed', async () => {
    const { said, answer } = await ask('/refused')
    expect(said).toMatchObject({ statusCode: 404, headers: { 'content-type': 'application/json' } })
    expect(JSON.parse(answer)).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })

  it('knows a caller’s key from what the Router signs with', async () => {
    const key = 'Bearer esp_a-key'
    const signature = 'AWS4-HMAC-SHA256 Credential=…'
    expect(await echo({ authorization: key })).toMatchObject({ authorization: key })
    const carried = { authorization: signature, [CARRIED_AUTHORIZATION]: key }
    expect(await echo(carried)).toMatchObject({ authorization: key })
    // Who has signed in sends none, and then the signature is no key.
    const signed = await echo({ authorization: signature }, ['a=1', 'b=2'])
    expect(signed).not.toHaveProperty('authorization')
    expect(signed.cookie).toBe('a=1; b=2')
  })

  it('takes a header of any characters', async () => {
    expect(await echo({ 'x-name': 'Ünal €' })).toMatchObject({ 'x-name': '%C3%9Cnal%20%E2%82%AC' })
  })
})
