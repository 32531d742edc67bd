/** Subscriptions of one principal: each notice becomes one row for each of them, in one transaction. */
export const MAX_SUBSCRIPTIONS = 10
/** Addresses of one subscription; SES takes 50 of a message. */
export const MAX_EMAILS = 10
/** RFC 5321: a path has 256 octets, of which two are its brackets. */
export const MAX_EMAIL_CHARS = 254
/** What servers take as a rule. */
export const MAX_URL_CHARS = 2_048

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** How long before its end a wait is told of once more: a quarter of it, and so much at least. */
export const EXPIRING_FRACTION = 1 / 4
export const MIN_EXPIRING_MS = 10 * MINUTE_MS

/** The pauses between attempts, about a day in all. */
export const PAUSES_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  8 * HOUR_MS,
  8 * HOUR_MS,
] as const
export const MAX_ATTEMPTS = PAUSES_MS.length + 1
/** What a receiver may ask for with Retry-After, at most. */
export const MAX_PAUSE_MS = 8 * HOUR_MS
/** How much longer than said a pause may be: what failed together need not come again together. */
export const JITTER = 0.1

/** For one attempt; Standard Webhooks recommends 15 to 30 seconds. */
export const ATTEMPT_TIMEOUT_MS = 15_000
/** Deliveries given up in a row, each after a day, before the subscription is disabled. */
export const MAX_FAILURES = 10
/** How long a delivery can be looked up, from its making. */
export const KEPT_DAYS = 30
/** How long the secret before still signs, beside the new one. */
export const ROTATION_HOURS = 24
