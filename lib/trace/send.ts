import { optionalConfig } from '../core/config.ts'
import { AppError } from '../core/errors.ts'
import { errorFields, log } from '../core/log.ts'
import { encodeSpans } from './encode.ts'
import type { Span } from './span.ts'

/** How long a receiver may take. Nobody's work waits longer than this for a trace to be told. */
export const SEND_TIMEOUT_MS = 2_000

/** Whether it stands in the log already that the receiver doesn't take what it is sent. */
let isTold = false

/**
 * Sends spans to the receiver. That this fails is told in the log, once until it works again, and is
 * never a failure of what the spans tell of.
 */
export const sendSpans = async (spans: readonly Span[]): Promise<void> => {
  try {
    await post(JSON.stringify(encodeSpans(spans, resource())))
    isTold = false
  } catch (error) {
    if (!isTold) log('warn', 'spans-not-sent', { spans: spans.length, ...errorFields(error) })
    isTold = true
  }
}

const post = async (body: string): Promise<void> => {
  const signal = AbortSignal.timeout(SEND_TIMEOUT_MS)
  const ask = () =>
    fetch(urlOf(optionalConfig('traceEndpoint') ?? ''), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headersOf(optionalConfig('traceHeaders')) },
      body,
      signal,
      // A header with a key in it goes nowhere else.
      redirect: 'error',
    })
  // A function that was frozen may find that its connection has been closed meanwhile.
  const response = await ask().catch(error => {
    if (signal.aborted || error instanceof AppError) throw error
    return ask()
  })
  await response.body?.cancel()
  if (!response.ok)
    throw new AppError('INTERNAL', `The receiver of traces answered HTTP ${response.status}.`)
}

/** https://opentelemetry.io/docs/specs/otel/protocol/exporter/: the base of all kinds' addresses. */
export const urlOf = (endpoint: string): URL => {
  const url = URL.parse(`${endpoint.replace(/\/+$/, '')}/v1/traces`)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new AppError(
    'NOT_CONFIGURED',
    'OTEL_EXPORTER_OTLP_ENDPOINT must be an address such as http://127.0.0.1:4318.',
  )
}

/** `name=value,name=value`, the values percent-encoded. What is no such pair is passed over. */
export const headersOf = (text = ''): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap(pair => {
      const [, name, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
      return name === undefined || value === undefined ? [] : [[name, decoded(value)]]
    }),
  )

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** Who tells of the spans; a deployed function by its own name, which has the stage in it. */
const resource = () => {
  const { AWS_LAMBDA_FUNCTION_NAME: name, AWS_REGION: region } = process.env
  // The local runner has a region as well, which is nowhere.
  const place = name ? { 'faas.name': name, 'cloud.provider': 'aws', 'cloud.region': region } : {}
  return { 'service.name': 'espalier', ...place }
}
