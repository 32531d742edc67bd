import type { Author } from '../audit/audit.ts'
import { isoNow, systemClock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { atVersion, FIRST_VERSION } from '../data/at-version.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { transact } from '../data/transact.ts'
import { type PrincipalId, principalKey } from '../principal/principal.ts'
import { entryOf, told } from './entry.ts'
import type { NoticeEvent } from './event.ts'
import { MAX_SUBSCRIPTIONS } from './limits.ts'
import { addListener, changeListener, listenersKey, removeListener } from './listeners.ts'
import { sealSecret } from './secrets.ts'
import { newSecret } from './sign.ts'
import {
  allSubscriptions,
  getSubscription,
  type Subscription,
  subscriptionIndexes,
  subscriptionKey,
} from './subscription.ts'

/** What its keepers say of a subscription. */
export type SubscriptionFields = {
  name: string
  url?: string
  emails?: string[]
  events: NoticeEvent[]
  isEnabled: boolean
}

export type NewSubscription = SubscriptionFields & {
  id: Id<'subscription'>
  principalId: PrincipalId
  requestHash: string
}

/**
 * Makes a subscription; a webhook's secret is in the answer, this once. The same id again gives the
 * one that has it. INVALID_STATE where its principal has as many as it may; NOT_FOUND where that is
 * gone.
 */
export const createSubscription = async (
  { isEnabled, ...made }: NewSubscription,
  author: Author,
): Promise<{ subscription: Subscription; created: boolean; secret?: string }> => {
  const now = isoNow(author.clock ?? systemClock)
  const secret = made.url === undefined ? undefined : newSecret()
  const subscription: Subscription = {
    ...made,
    ...(isEnabled ? {} : { disabledBecause: 'asked' }),
    ...(secret === undefined ? {} : { secret: sealSecret(secret, made, 'secret') }),
    failures: 0,
    version: FIRST_VERSION,
    createdAt: now,
    updatedAt: now,
    updatedBy: author.by,
  }
  const { id, principalId } = made
  const outcome = await transact([
    {
      insert: subscription,
      key: subscriptionKey(id),
      indexes: subscriptionIndexes(subscription),
    },
    addListener(subscription),
    { check: principalKey(principalId), where: { pk: is.present } },
    entryOf('subscription-created', subscription, author, { to: told(subscription) }),
  ])
  if (outcome.ok)
    return { subscription, created: true, ...(secret === undefined ? {} : { secret }) }
  if (outcome.failed.includes(0)) return { subscription: await getSubscription(id), created: false }
  if (outcome.failed.includes(2)) throw notFound('principal', principalId)
  throw new AppError(
    'INVALID_STATE',
    `${principalId} has ${MAX_SUBSCRIPTIONS} subscriptions, which is as many as there may be. Delete one first.`,
  )
}

/** Changes a subscription as it was read; undefined where it is of another version by now. */
export const updateSubscription = async (
  current: Subscription,
  { isEnabled, ...changes }: Partial<SubscriptionFields>,
  author: Author,
): Promise<Subscription | undefined> => {
  const { disabledBecause: before, ...rest } = current
  const isStill = isEnabled === undefined ? before !== undefined : !isEnabled
  const because = isStill ? (before ?? 'asked') : undefined
  const changed: Subscription = {
    ...rest,
    ...changes,
    ...(because === undefined ? {} : { disabledBecause: because }),
    failures: isEnabled === true ? 0 : current.failures,
    version: current.version + 1,
    updatedAt: isoNow(author.clock ?? systemClock),
    updatedBy: author.by,
  }
  const { name, url, emails, events, failures, version, updatedAt, updatedBy } = changed
  const set = { name, url, emails, events, failures, version, updatedAt, updatedBy }
  const outcome = await transact([
    {
      key: subscriptionKey(current.id),
      update:
        because === undefined
          ? { set, remove: ['disabledBecause'] }
          : { set: { ...set, disabledBecause: because } },
      where: atVersion(current.version),
    },
    changeListener(changed),
    entryOf('subscription-changed', current, author, { from: told(current), to: told(changed) }),
  ])
  return outcome.ok ? changed : undefined
}

/** Ends a subscription as it was read, its secret with it; undefined as above. */
export const deleteSubscription = async (
  subscription: Subscription,
  author: Author,
): Promise<true | undefined> => {
  const outcome = await transact([
    { remove: subscriptionKey(subscription.id), where: atVersion(subscription.version) },
    removeListener(subscription),
    entryOf('subscription-deleted', subscription, author, { from: told(subscription) }),
  ])
  return outcome.ok ? true : undefined
}

/** Takes away the subscriptions of a principal that is gone, with their secrets. May be done again. */
export const clearSubscriptions = async (principalId: PrincipalId): Promise<void> => {
  for (const { id } of await allSubscriptions(principalId)) await table.remove(subscriptionKey(id))
  await table.remove(listenersKey(principalId))
}
