import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from './service-error.ts'

// When a command is sent again, and after how long: as the SDK decides, which test/lib/aws/attempts
// holds it to.

/** The first wait, at most, where something broke; each further one may be twice as long. */
const BACKOFF_MS = 50
/** The same where the service has too much to do. */
const LATER_MS = 1_000
const MAX_BACKOFF_MS = 20_000
/** Codes that say "later", beside status 429. */
const LATER = [
  'BandwidthLimitExceeded',
  'EC2ThrottledException',
  'LimitExceededException',
  'PriorRequestNotComplete',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionInProgressException',
]
/** What the service did not get whole, or could not do this once. */
const ONCE_MORE = ['RequestTimeout', 'RequestTimeoutException']
const ONCE_MORE_STATUSES = [500, 502, 503, 504]
const BROKEN = [
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]

/** Does what may be done again so many times at most, until it is done or has failed for good. */
export const repeatedly = async <T>(
  work: () => Promise<T>,
  { attempts, signal }: { attempts: number; signal: AbortSignal | undefined },
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const firstMs = firstWaitMs(error)
      if (attempt >= attempts || firstMs === undefined || signal?.aborted) throw error
      const waitMs = Math.random() * Math.min(firstMs * 2 ** (attempt - 1), MAX_BACKOFF_MS)
      await sleep(waitMs, undefined, signal ? { signal } : {})
    }
  }
}

/** Undefined for an error that would come again. */
const firstWaitMs = (error: unknown): number | undefined => {
  if (!(error instanceof Error)) return undefined
  if (!(error instanceof ServiceError))
    return error.name === 'TimeoutError' || BROKEN.includes(String('code' in error && error.code))
      ? BACKOFF_MS
      : undefined
  const { name, message } = error
  const { httpStatusCode } = error.$metadata
  if (httpStatusCode === 429 || LATER.includes(name)) return LATER_MS
  if (ONCE_MORE.includes(name) || ONCE_MORE_STATUSES.includes(httpStatusCode)) return BACKOFF_MS
  // A function that was stopped as it had signed, and went on much later.
  const isExpired = name === 'InvalidSignatureException' && message.includes('Signature expired')
  return isExpired ? BACKOFF_MS : undefined
}
