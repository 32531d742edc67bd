import { MAX_START_MS } from '../call/give-up.ts'
import { WAKE_FUNCTION } from '../call/invoke.ts'
import { DEADLINE_GRACE_SECONDS } from '../call/receipt.ts'
import type { FunctionSpec } from '../http/route-table.ts'
import { NOTIFY_FUNCTION } from '../notification/announce.ts'
import { HANDED_ON_AGAIN_MS } from '../notification/send-due.ts'
import { MAX_OPERATION_SECONDS } from '../tool/options.ts'

/** How long a dead letter is kept: SQS's longest, 14 days. */
export const DEAD_LETTER_SECONDS = 14 * 86_400

/** How Lambda treats the events of a function; what it gives up is put among the dead letters. */
export type EventRules = {
  /** Further tries of one that failed: Lambda's limit is 2, a minute and two minutes later. */
  retries: number
  /** How long one waits for room at most: from 60 seconds to 6 hours. */
  maxAgeSeconds: number
}

/**
 * The rules of a function that is invoked with events, or undefined where nobody does. An event holds
 * ids only, so that it may be lost, late or doubled: what is true is in rows. Each is kept for as long
 * as it is of use, so that in a jam nothing queues behind what somebody else has long seen to.
 */
export const eventRulesOf = ({
  name,
  reach,
}: Pick<FunctionSpec, 'name' | 'reach'>): EventRules | undefined => {
  // A call that has started doesn't start again while it may still run, and one whose effect is to
  // come once never does: whoever is tried again finds that, and stops. Later than this it is given up.
  if (reach.includes('floor')) return { retries: 2, maxAgeSeconds: MAX_START_MS / 1_000 }
  switch (name) {
    // A wake says "look", which does no harm, and by then the task has looked by itself.
    case WAKE_FUNCTION:
      return { retries: 2, maxAgeSeconds: MAX_OPERATION_SECONDS + DEADLINE_GRACE_SECONDS }
    // An attempt is written down before it is made; by then the sweeper has handed it on again.
    case NOTIFY_FUNCTION:
      return { retries: 2, maxAgeSeconds: HANDED_ON_AGAIN_MS / 1_000 }
    // The next one comes in a minute, and does the same.
    case 'sweep':
      return { retries: 0, maxAgeSeconds: 60 }
    default:
      return undefined
  }
}
