import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { type Id, newNonce } from '../core/ids.ts'
import { log } from '../core/log.ts'
import { beginAttempt, type Delivery, endDelivery, getDelivery, noteAttempt } from './delivery.ts'
import { disableSubscription, noteOutcome } from './disable.ts'
import { TEST_EVENT } from './event.ts'
import { JITTER, MAX_ATTEMPTS, MAX_PAUSE_MS, PAUSES_MS } from './limits.ts'
import { nameDelivery } from './name-delivery.ts'
import { sendEmail } from './send-email.ts'
import { type Sent, sendWebhook } from './send-webhook.ts'
import { findSubscription, type Subscription } from './subscription.ts'

/** What only rooms above know: whether a call still waits in the form that a notice tells of. */
export type StillWaits = (
  call: NonNullable<Delivery['whileWaiting']>,
  clock: Clock,
) => Promise<boolean>

const GONE = 410

/**
 * Sends a delivery that is due, once; what it comes to is in its record. Asked for one that has
 * ended, is not due yet, or that someone else has begun to send, it does nothing.
 */
export const deliver = async (
  id: Id<'delivery'>,
  { stillWaits, clock = systemClock }: { stillWaits: StillWaits; clock?: Clock },
): Promise<void> => {
  const seen = await getDelivery(id)
  if (seen) await nameDelivery(seen)
  if (seen?.status !== 'PENDING' || seen.nextAt > isoNow(clock)) return
  if (seen.attempts.length >= MAX_ATTEMPTS) return fail(seen, clock)
  const subscription = await findSubscription(seen.subscriptionId)
  const useless = await whyUseless(seen, subscription, { stillWaits, clock })
  if (useless) return endDelivery(seen, { status: 'DROPPED', droppedBecause: useless }, clock)
  const again = isoIn(pauseAfter(seen.attempts.length + 1, seen), clock)
  const claim = newNonce()
  const begun = await beginAttempt(seen, { again, claim, clock })
  if (!begun || !subscription) return
  await note(begun, subscription, await send(subscription, begun, clock), clock)
}

const send = (
  { url, emails, ...subscription }: Subscription,
  { body = '', ...delivery }: Delivery,
  clock: Clock,
): Promise<Sent> =>
  url === undefined
    ? sendEmail({ ...subscription, emails: emails ?? [] }, { ...delivery, body })
    : sendWebhook({ ...subscription, url }, { ...delivery, body }, clock)

const whyUseless = async (
  { event, whileWaiting }: Delivery,
  subscription: Subscription | undefined,
  { stillWaits, clock }: { stillWaits: StillWaits; clock: Clock },
): Promise<Delivery['droppedBecause']> => {
  if (!subscription) return 'deleted'
  // One that is disabled may be tried, so that it can be enabled again.
  if (subscription.disabledBecause !== undefined && event !== TEST_EVENT) return 'disabled'
  if (whileWaiting && !(await stillWaits(whileWaiting, clock))) return 'waits-no-more'
  return undefined
}

/** Writes down what an attempt came to: the end, or when the next one follows. */
const note = async (
  delivery: Delivery,
  subscription: Subscription,
  { retryAfterSeconds, ...sent }: Sent,
  clock: Clock,
): Promise<void> => {
  const { id: deliveryId, subscriptionId, event, attempts } = delivery
  const tries = attempts.length
  const attempt = { at: attempts.at(-1)?.at ?? isoNow(clock), ...sent }
  log('info', 'notice-sent', { deliveryId, subscriptionId, notice: event, ...sent, tries })
  if (sent.result === 'delivered') {
    await endDelivery(delivery, { status: 'DELIVERED', attempt }, clock)
    return noteOutcome(subscription, 'delivered', clock)
  }
  if (sent.httpStatus === GONE && subscription.url !== undefined) {
    await endDelivery(delivery, { status: 'FAILED', attempt }, clock)
    return disableSubscription(subscription, 'gone', clock)
  }
  const isTest = event === TEST_EVENT
  if (attempts.length < MAX_ATTEMPTS && !isTest) {
    const asked = Math.min((retryAfterSeconds ?? 0) * 1_000, MAX_PAUSE_MS)
    const pause = Math.max(asked, pauseAfter(attempts.length, delivery))
    return noteAttempt(delivery, attempt, { again: isoIn(pause, clock) })
  }
  await endDelivery(delivery, { status: 'FAILED', attempt }, clock)
  if (!isTest) await noteOutcome(subscription, 'failed', clock)
}

/** The end of one whose last attempt nobody has told the end of. */
const fail = async (delivery: Delivery, clock: Clock): Promise<void> => {
  await endDelivery(delivery, { status: 'FAILED' }, clock)
  const subscription = await findSubscription(delivery.subscriptionId)
  if (subscription) await noteOutcome(subscription, 'failed', clock)
}

/** The pause after so many attempts, a little longer for some than for others. */
const pauseAfter = (attempts: number, { id }: Pick<Delivery, 'id'>): number => {
  const pause = PAUSES_MS[attempts - 1] ?? MAX_PAUSE_MS
  return Math.round(pause * (1 + JITTER * fractionOf(id, attempts)))
}

/** From 0 to 1, from the random or hashed end of an id: the same for the same, whoever asks. */
const fractionOf = (id: string, attempts: number): number => {
  const code = id.charCodeAt(id.length - attempts)
  return (code % 32) / 32
}
