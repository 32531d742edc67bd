import { type Clock, systemClock } from '../core/clock.ts'
import { hasCode } from '../core/errors.ts'
import { guardedFetch } from '../web/guarded-fetch.ts'
import type { Attempt, Delivery } from './delivery.ts'
import { ATTEMPT_TIMEOUT_MS } from './limits.ts'
import { signingSecrets } from './secrets.ts'
import { signaturesOf } from './sign.ts'
import type { Subscription } from './subscription.ts'
import { checkTarget } from './target.ts'

/** What became of an attempt, and how long its receiver asks to be left alone. */
export type Sent = Omit<Attempt, 'at'> & { retryAfterSeconds?: number }

const ANSWER_LIMITS = { totalTimeoutMs: ATTEMPT_TIMEOUT_MS, firstByteTimeoutMs: ATTEMPT_TIMEOUT_MS }

/** Answers that ask to be left alone for a while. */
const THROTTLING = [429, 503]

/**
 * Posts a notice to a webhook, signed. Redirects are not followed, and of the answer only its status
 * is read. It throws for faults of our own alone.
 */
export const sendWebhook = async (
  subscription: Subscription & { url: string },
  { id, body }: Pick<Delivery, 'id'> & { body: string },
  clock: Clock = systemClock,
): Promise<Sent> => {
  const { url } = subscription
  try {
    await checkTarget(url)
    const timestampSeconds = Math.floor(clock.now().getTime() / 1_000)
    const secrets = signingSecrets(subscription, clock)
    const response = await guardedFetch({ limits: ANSWER_LIMITS })(url, {
      method: 'POST',
      redirect: 'manual',
      body,
      headers: {
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'Espalier',
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signaturesOf({ id, timestampSeconds, body }, secrets),
      },
    })
    await response.body?.cancel()
    return sentOf(response)
  } catch (error) {
    if (hasCode(error, 'DECRYPTION_FAILED')) return { result: 'secret-unreadable' }
    if (hasCode(error, 'FETCH_REFUSED')) return { result: 'refused' }
    if (hasCode(error, 'FETCH_FAILED')) return { result: 'unreachable' }
    throw error
  }
}

const sentOf = ({ ok, status: httpStatus, headers }: Response): Sent => {
  if (ok) return { result: 'delivered', httpStatus }
  const asked = THROTTLING.includes(httpStatus) ? headers.get('retry-after') : null
  return {
    result: 'status',
    httpStatus,
    ...(asked !== null && /^\d{1,9}$/.test(asked) ? { retryAfterSeconds: Number(asked) } : {}),
  }
}
