import type { Author } from '../audit/audit.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { atVersion } from '../data/at-version.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { transact } from '../data/transact.ts'
import { entryOf } from './entry.ts'
import { MAX_FAILURES } from './limits.ts'
import { changeListener } from './listeners.ts'
import { Subscription, subscriptionKey } from './subscription.ts'

/** Sends nothing to a subscription any more, for a reason of its own making; whoever keeps it reads why. */
export const disableSubscription = async (
  subscription: Subscription,
  because: 'gone' | 'failing',
  clock: Clock = systemClock,
): Promise<void> => {
  const { id, version } = subscription
  const author: Author = { by: id, clock }
  await transact([
    {
      key: subscriptionKey(id),
      update: {
        set: {
          disabledBecause: because,
          version: version + 1,
          updatedAt: isoNow(clock),
          updatedBy: id,
        },
      },
      where: { disabledBecause: is.absent, ...atVersion(version) },
    },
    changeListener({ ...subscription, disabledBecause: because }),
    entryOf('subscription-disabled', subscription, author, { to: { because } }),
  ])
}

/** Counts deliveries that were given up in a row; too many of them disable the subscription. */
export const noteOutcome = async (
  subscription: Subscription,
  outcome: 'delivered' | 'failed',
  clock: Clock = systemClock,
): Promise<void> => {
  const { id, failures } = subscription
  if (outcome === 'delivered' && failures === 0) return
  const change = outcome === 'delivered' ? { set: { failures: 0 } } : { add: { failures: 1 } }
  const { item } = await table.update(Subscription, subscriptionKey(id), change)
  if (item && item.failures >= MAX_FAILURES && item.disabledBecause === undefined)
    await disableSubscription(item, 'failing', clock)
}
