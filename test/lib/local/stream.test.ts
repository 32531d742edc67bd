import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { setLogSink } from '../../../lib/core/log.ts'
import type { StreamingHandler } from '../../../lib/http/streaming-handler.ts'
import { type LocalApi, startApi } from '../../../lib/local/api.ts'
import { type LocalLambda, startLambda } from '../../../lib/local/lambda.ts'

// What a streaming function does reaches a client as it does it, past the gateway's own limits.

const usual = setLogSink(() => {})
afterAll(() => {
  setLogSink(usual)
})

let lambda: LocalLambda
let api: LocalApi
afterEach(async () => {
  await api.close()
  await lambda.close()
})

const serve = async (handler: StreamingHandler, timeoutSeconds = 5) => {
  lambda = await startLambda({
    functions: () => ({ handler: async () => handler as never, timeoutSeconds, memoryMb: 256 }),
  })
  api = await startApi({
    routes: [{ method: 'GET', path: '/things/{id}', functionName: 'streamer' }],
    invoke: lambda.invoke,
    stream: lambda.stream,
    streaming: new Set(['streamer']),
    timeoutMs: 200,
  })
  return `${api.url}/things/one?a=b`
}

type Runtime = { HttpResponseStream: { from: (stream: unknown, said: object) => never } }
const from = (stream: unknown, statusCode: number, headers: object, cookies: string[] = []) =>
  (globalThis as unknown as { awslambda: Runtime }).awslambda.HttpResponseStream.from(stream, {
    statusCode,
    headers,
    cookies,
  }) as import('node:stream').Writable

describe('a function that streams', () => {
  it('answers with its status, headers and cookies at once, and with its body as it comes', async () => {
    let goOn = () => {}
    const told = new Promise<void>(resolve => {
      goOn = resolve
    })
    const url = await serve(async (_event, responseStream) => {
      const stream = from(responseStream, 201, { 'x-own': 'yes' }, ['a=1; Path=/', 'b=2'])
      stream.write('first')
      await told
      stream.end('last')
      await once(stream, 'finish')
    })
    const response = await fetch(url)
    expect(response.status).toBe(201)
    expect(response.headers.get('x-own')).toBe('yes')
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2'])
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toBe('first')
    // Longer than the gateway waits for an answer of any other function.
    await sleep(300)
    goOn()
    expect((await reader?.read())?.value).toBe('last')
    expect((await reader?.read())?.done).toBe(true)
    expect(lambda.invocations()).toEqual({ streamer: 1 })
  })

  it('gets the event that a function URL gives', async () => {
    let seen: Parameters<StreamingHandler>[0] | undefined
    const url = await serve(async (event, responseStream, context) => {
      seen = event
      expect(context.getRemainingTimeInMillis()).toBeGreaterThan(0)
      from(responseStream, 204, {}).end()
    })
    expect((await fetch(url, { headers: { cookie: 'c=3' } })).status).toBe(204)
    expect(seen).toMatchObject({
      rawPath: '/things/one',
      rawQueryString: 'a=b',
      cookies: ['c=3'],
      requestContext: { http: { method: 'GET' } },
    })
  })

  it('is as fast as its client, and no faster', async () => {
    const CHUNK = Buffer.alloc(64 * 1024)
    const CHUNKS = 400
    let sent = 0
    const url = await serve(async (_event, responseStream) => {
      const stream = from(responseStream, 200, {})
      for (; sent < CHUNKS; sent++) if (!stream.write(CHUNK)) await once(stream, 'drain')
      stream.end()
    })
    const { hostname, port, pathname } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(`GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n\r\n`)
    await once(socket, 'readable')
    await sleep(300)
    expect(sent).toBeLessThan(CHUNKS)
    socket.resume()
    while (sent < CHUNKS) await sleep(10)
    socket.destroy()
  })

  it('sees its stream close when the client hangs up', async () => {
    let closed: Promise<unknown> | undefined
    const url = await serve(async (_event, responseStream) => {
      const stream = from(responseStream, 200, {})
      closed = once(stream, 'close')
      stream.write('hello')
      await closed
    })
    const hangUp = new AbortController()
    const response = await fetch(url, { signal: hangUp.signal })
    await response.body?.getReader().read()
    expect(lambda.inFlight()).toBe(1)
    hangUp.abort()
    await closed
    while (lambda.inFlight() > 0) await sleep(10)
  })

  it('that fails before it has said anything is a bad gateway', async () => {
    const url = await serve(async () => {
      throw new Error('Defect.')
    })
    const response = await fetch(url)
    expect(response.status).toBe(502)
    expect(await response.json()).toEqual({ message: 'Internal Server Error' })
  })

  it('is cut off when its time is up, and when the service ends', async () => {
    const hang: StreamingHandler = async (_event, responseStream) => {
      const stream = from(responseStream, 200, {})
      stream.write('hello')
      await once(stream, 'close')
    }
    const cut = await fetch(await serve(hang, 0.2))
    await expect(cut.text()).rejects.toThrow()
    await api.close()
    await lambda.close()
    const ended = await fetch(await serve(hang))
    lambda.endStreams()
    await expect(ended.text()).rejects.toThrow()
  })
})
