import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { runFunction } from '../../../lib/core/function.ts'
import { type LogEntry, type LogSink, setLogSink } from '../../../lib/core/log.ts'
import { headersOf, SEND_TIMEOUT_MS, urlOf } from '../../../lib/trace/send.ts'
import { trace } from '../../../lib/trace/tracing.ts'
import { ExportRequest, type Receiver, startReceiver } from '../../otlp-receiver.ts'

const SECRET = 'canary-header-4711'

let receiver: Receiver
let entries: LogEntry[]
let previous: LogSink
beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver.close())
beforeEach(async () => {
  entries = []
  previous = setLogSink(entry => entries.push(entry))
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url)
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', `x-key=${SECRET}`)
  receiver.become('takes')
  // What one test was told of a receiver that fails, another shall be told again.
  await tellOf('first')
  entries = []
  receiver.forget()
})
afterEach(() => {
  setLogSink(previous)
  vi.unstubAllEnvs()
})

const call = (id: string) => ({
  id,
  agentId: 'agent_1',
  tool: 'time',
  operation: 'now',
  status: 'COMPLETED',
  requiresApproval: false,
  createdAt: '2026-12-01T00:00:00.000Z',
  startedAt: '2026-12-01T00:00:00.500Z',
  endedAt: '2026-12-01T00:00:01.000Z',
})

/** A function that tells of calls, and answers. */
const tellOf = (...ids: string[]) =>
  runFunction({}, async () => {
    for (const id of ids) await trace(({ tellCall }) => tellCall(call(id)))
    return 'done'
  })

const untold = () => entries.filter(({ event }) => event === 'spans-not-sent')

describe('spans', () => {
  it('have arrived, all in one request, when the function answers', async () => {
    expect(await tellOf('call_1', 'call_2')).toBe('done')
    expect(receiver.problems).toEqual([])
    expect(receiver.texts).toHaveLength(1)
    expect(receiver.spans.map(({ name }) => name)).toEqual([
      'execute_tool time.now',
      'execute_tool time.now',
    ])
    expect(receiver.headers[0]).toMatchObject({ 'x-key': SECRET })
  })

  it('say who tells of them: a deployed function by its name, the local runner by none', async () => {
    const resourceOf = (text = '') =>
      ExportRequest.parse(JSON.parse(text)).resourceSpans[0]?.resource
    vi.stubEnv('AWS_REGION', 'eu-central-1')
    await tellOf('call_1')
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'espalier-production-tick')
    await tellOf('call_1')
    const service = { key: 'service.name', value: { stringValue: 'espalier' } }
    expect(receiver.texts.map(text => resourceOf(text))).toEqual([
      { attributes: [service] },
      {
        attributes: [
          service,
          { key: 'faas.name', value: { stringValue: 'espalier-production-tick' } },
          { key: 'cloud.provider', value: { stringValue: 'aws' } },
          { key: 'cloud.region', value: { stringValue: 'eu-central-1' } },
        ],
      },
    ])
  })

  it('are told once in one run of a function', async () => {
    await tellOf('call_1', 'call_1')
    expect(receiver.spans).toHaveLength(1)
  })

  it('are told of by a function that fails, too', async () => {
    const failing = runFunction({}, async () => {
      await trace(({ tellCall }) => tellCall(call('call_1')))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow()
    expect(receiver.spans).toHaveLength(1)
  })

  it('are nobody’s where no function runs that could wait for them', async () => {
    await trace(({ tellCall }) => tellCall(call('call_1')))
    expect(receiver.texts).toEqual([])
  })
})

describe('a receiver that', () => {
  it('fails is told of once until it works again, and never to whoever called', async () => {
    receiver.become('fails')
    expect(await tellOf('call_1')).toBe('done')
    expect(await tellOf('call_2')).toBe('done')
    expect(untold()).toMatchObject([{ level: 'warn', spans: 1, code: 'INTERNAL' }])
    receiver.become('takes')
    await tellOf('call_3')
    receiver.become('fails')
    await tellOf('call_4')
    expect(untold()).toHaveLength(2)
    expect(JSON.stringify(entries)).not.toContain(SECRET)
  })

  it('hangs keeps a function for no longer than the bound', async () => {
    receiver.become('hangs')
    const started = performance.now()
    expect(await tellOf('call_1')).toBe('done')
    // It would never answer; a busy machine may be late.
    expect(performance.now() - started).toBeLessThan(4 * SEND_TIMEOUT_MS)
    expect(untold()).toHaveLength(1)
  })

  it('is not there changes nothing', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:1')
    expect(await tellOf('call_1')).toBe('done')
    expect(untold()).toHaveLength(1)
  })

  it('sends elsewhere is not followed: the key is for nobody else', async () => {
    receiver.become('redirects')
    await tellOf('call_1')
    expect(untold()).toHaveLength(1)
    expect(receiver.headers.length).toBeLessThanOrEqual(2)
  })

  it('has no address is told of, without the address', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `${SECRET}:4318`)
    expect(await tellOf('call_1')).toBe('done')
    expect(untold()).toMatchObject([{ code: 'NOT_CONFIGURED' }])
    expect(JSON.stringify(entries)).not.toContain(SECRET)
  })
})

it.each([
  ['http://127.0.0.1:4318', 'http://127.0.0.1:4318/v1/traces'],
  ['http://127.0.0.1:4318/', 'http://127.0.0.1:4318/v1/traces'],
  ['https://otel.example.com/otlp', 'https://otel.example.com/otlp/v1/traces'],
])('%s is where %s is', (endpoint, url) => {
  expect(urlOf(endpoint).href).toBe(url)
})

it('reads headers as OpenTelemetry writes them', () => {
  expect(headersOf('a=1, b = two%20words ,Authorization=Basic%20eDp5,,nothing,c=%')).toEqual({
    a: '1',
    b: 'two words',
    Authorization: 'Basic eDp5',
    c: '%',
  })
  expect(headersOf()).toEqual({})
})
