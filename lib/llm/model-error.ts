import { AppError } from '../core/errors.ts'

export type ModelErrorKind =
  | 'rate-limit'
  | 'server-overloaded'
  | 'server-error'
  | 'gateway-error'
  | 'auth-error'
  | 'timeout'
  | 'bad-request'
  | 'context-window'
  | 'unknown'

/** The details of a MODEL_ERROR, in the wire's snake_case. */
export type ModelErrorDetails = {
  provider: string
  /** The HTTP status, or null where there was no answer or the error came within a stream. */
  status: number | null
  is_retryable: boolean
  retry_after_seconds?: number
  kind: ModelErrorKind
  /** The provider may have begun to answer, and may charge for that. */
  may_have_cost?: true
}

const MESSAGES: Record<ModelErrorKind, string> = {
  'rate-limit': 'limits its requests or its quota is spent. Wait, or raise the limit there.',
  'server-overloaded': 'is overloaded. Try again later.',
  'server-error': 'failed on its side. Try again later.',
  'gateway-error': 'could not be reached, or its answer broke off. Try again later.',
  'auth-error': 'refused the key. Check the key, and what its account may use.',
  timeout: 'took too long to answer. Try again later.',
  'bad-request': 'refused the request. Check the name of the model and the schemas of the tools.',
  'context-window': 'was sent more than the model can read. Shorten the conversation.',
  unknown: 'failed in a way that it did not explain.',
}

const RETRYABLE: readonly ModelErrorKind[] = [
  'rate-limit',
  'server-overloaded',
  'server-error',
  'gateway-error',
  'timeout',
]

/**
 * A MODEL_ERROR from whatever a driver threw or streamed. It carries no text of the original and
 * not the original as its cause: those hold the prompt, the headers, and at times the key.
 */
export const modelError = (
  provider: string,
  original: unknown,
  { mayHaveCost = false }: { mayHaveCost?: boolean } = {},
): AppError => {
  const evidence = read(original)
  const kind = kindOf(evidence)
  const isSpent = /insufficient_quota|billing_hard_limit|credit balance/i.test(evidence.text)
  const isRetryable = kind === 'unknown' ? evidence.isRetryable : RETRYABLE.includes(kind)
  const retryAfter = retryAfterSeconds(evidence)
  return failure(provider, kind, {
    status: evidence.status,
    is_retryable: isRetryable && !isSpent,
    ...(retryAfter !== undefined && { retry_after_seconds: retryAfter }),
    ...(mayHaveCost && { may_have_cost: true }),
  })
}

/** A MODEL_ERROR for an answer that broke off, or ended in an error that nobody named. */
export const brokenAnswer = (provider: string, kind: 'gateway-error' | 'unknown'): AppError =>
  failure(provider, kind, { status: null, is_retryable: true, may_have_cost: true })

const failure = (
  provider: string,
  kind: ModelErrorKind,
  rest: Omit<ModelErrorDetails, 'provider' | 'kind'>,
): AppError => {
  const details: ModelErrorDetails = { provider, ...rest, kind }
  const status = rest.status === null ? '' : ` (HTTP ${rest.status})`
  const message = `The model provider "${provider}" ${MESSAGES[kind]}${status}`
  return new AppError('MODEL_ERROR', message, { details })
}

type Evidence = {
  name: string
  status: number | null
  isRetryable: boolean
  beganWell: boolean
  headers: Record<string, unknown>
  /** The error's words, only to be searched: nothing of it leaves this file. */
  text: string
}

const read = (original: unknown): Evidence => {
  const fields = asRecord(original)
  const data = asRecord(fields.data)
  const nested = asRecord(data.error)
  const status = [fields.statusCode, fields.status, fields.code].find(isStatus) ?? null
  const words = [fields, data, nested].flatMap(({ message, type, code, status: state }) => [
    message,
    type,
    code,
    state,
  ])
  return {
    name: typeof fields.name === 'string' ? fields.name : '',
    status,
    isRetryable: fields.isRetryable === true,
    beganWell: fields.statusCode === 200,
    headers: asRecord(fields.responseHeaders),
    text: [original, fields.responseBody, ...words]
      .filter(word => typeof word === 'string')
      .join('\n'),
  }
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const isStatus = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599

/** How the providers word it that a prompt is too long; there is no status of its own for it. */
const TOO_LONG =
  /context_length_exceeded|model_context_window_exceeded|context (window|length)|prompt is too long|maximum prompt length|input token count|request_too_large|too many tokens/i

/** The words that errors within a stream have in place of a status, first match wins. */
const WORDS: [RegExp, ModelErrorKind][] = [
  [/overloaded|\bUNAVAILABLE\b|capacity/i, 'server-overloaded'],
  [/rate_limit|rate limit|insufficient_quota|RESOURCE_EXHAUSTED|too many requests/i, 'rate-limit'],
  [/authentication|permission|invalid_api_key|UNAUTHENTICATED|PERMISSION_DENIED/i, 'auth-error'],
  [/timeout|timed out|DEADLINE_EXCEEDED/i, 'timeout'],
  [/FETCH_FAILED|fetch failed|failed to fetch|terminated|socket hang up|ECONN/i, 'gateway-error'],
  [/invalid_request|INVALID_ARGUMENT|not_found|invalid_prompt/i, 'bad-request'],
  [/server_error|api_error|\bINTERNAL\b|internal server error|internal_error/i, 'server-error'],
]

const kindOf = ({ name, status, isRetryable, beganWell, text }: Evidence): ModelErrorKind => {
  if (name === 'TimeoutError' || name === 'AbortError') return 'timeout'
  if (status !== null) return kindOfStatus(status, text)
  if (TOO_LONG.test(text)) return 'context-window'
  // A request that never got an answer is retryable and has no status. One whose answer broke off
  // keeps the status with which it began well.
  if (name === 'AI_APICallError' && (isRetryable || beganWell)) return 'gateway-error'
  return WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? 'unknown'
}

const kindOfStatus = (status: number, text: string): ModelErrorKind => {
  if (status === 429) return 'rate-limit'
  if (status === 401 || status === 402 || status === 403) return 'auth-error'
  if (status === 408) return 'timeout'
  if (status === 413) return 'context-window'
  if (status === 503 || status === 529) return 'server-overloaded'
  if (status === 502 || status === 504 || status >= 520) return 'gateway-error'
  if (status >= 500) return 'server-error'
  if (status === 409) return 'unknown'
  // Google answers 400 where another provider answers 401.
  if (/API_KEY_INVALID|API key not valid/i.test(text)) return 'auth-error'
  return TOO_LONG.test(text) ? 'context-window' : 'bad-request'
}

const retryAfterSeconds = ({ headers, text }: Evidence): number | undefined => {
  const milliseconds = Number.parseFloat(String(headers['retry-after-ms']))
  if (Number.isFinite(milliseconds)) return whole(milliseconds / 1000)
  const header = headers['retry-after']
  if (typeof header === 'string') {
    const seconds = Number(header)
    if (Number.isFinite(seconds)) return whole(seconds)
    const until = Date.parse(header)
    if (Number.isFinite(until)) return whole((until - Date.now()) / 1000)
  }
  // Google says it in the body.
  const delay = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1]
  return delay === undefined ? undefined : whole(Number(delay))
}

const whole = (seconds: number): number => Math.max(0, Math.ceil(seconds))
