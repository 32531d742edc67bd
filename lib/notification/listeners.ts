import * as z from 'zod'
import type { Id } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import type { TransactionWrite } from '../data/transact.ts'
import type { PrincipalId } from '../principal/principal.ts'
import { NoticeEvent } from './event.ts'
import { MAX_SUBSCRIPTIONS } from './limits.ts'
import type { Subscription } from './subscription.ts'

// Access patterns: who listens to what happens to a principal's things. One row for all of its
// subscriptions, without addresses and secrets, so that whatever moves a call or a task reads it at
// the price of one item, and learns nothing else. Each subscription that is enabled is an attribute.
export const listenersKey = (principalId: PrincipalId): table.Key => ({
  pk: `listeners#${principalId}`,
  sk: 'listeners',
})

const PREFIX = 'subscription_'

const Listeners = z
  .record(z.string(), z.unknown())
  .transform(item =>
    Object.entries(item).flatMap(([id, events]) =>
      id.startsWith(PREFIX)
        ? [{ id: id as Id<'subscription'>, events: z.array(NoticeEvent).parse(events) }]
        : [],
    ),
  )
export type Listener = { id: Id<'subscription'>; events: NoticeEvent[] }

/** Who listens; one consistent read. */
export const listenersOf = async (principalId: PrincipalId): Promise<Listener[]> =>
  (await table.get(Listeners as z.ZodType<Listener[]>, listenersKey(principalId))) ?? []

/** Makes room for one more, on condition that there is some; enabled, it listens. */
export const addListener = (subscription: Subscription): TransactionWrite => ({
  key: listenersKey(subscription.principalId),
  update: { add: { count: 1 }, ...listening(subscription) },
  where: { any: [{ count: is.absent }, { count: is.below(MAX_SUBSCRIPTIONS) }] },
  create: true,
})

/** What a subscription listens to by now: nothing while it is disabled. */
export const changeListener = (
  subscription: Pick<Subscription, 'id' | 'principalId' | 'events' | 'disabledBecause'>,
): TransactionWrite => ({
  key: listenersKey(subscription.principalId),
  update: listening(subscription),
})

export const removeListener = ({
  id,
  principalId,
}: Pick<Subscription, 'id' | 'principalId'>): TransactionWrite => ({
  key: listenersKey(principalId),
  update: { add: { count: -1 }, remove: [id] },
})

const listening = ({
  id,
  events,
  disabledBecause,
}: Pick<Subscription, 'id' | 'events' | 'disabledBecause'>) =>
  disabledBecause === undefined ? { set: { [id]: events } } : { remove: [id] }
