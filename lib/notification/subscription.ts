import * as z from 'zod'
import { notFound } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { PrincipalId } from '../principal/principal.ts'
import { NoticeEvent } from './event.ts'

/** Why nothing is sent: someone said so, the receiver did (410), or it failed for too long. */
export const DISABLED_BECAUSE = ['asked', 'gone', 'failing'] as const

/** Where a principal is told of what happens to what it owns: a webhook, or e-mail addresses. */
export const Subscription = z.object({
  id: idOf('subscription'),
  principalId: PrincipalId,
  name: z.string(),
  /** One of the two. */
  url: z.string().optional(),
  emails: z.array(z.string()).optional(),
  events: z.array(NoticeEvent),
  /** Absent while it is enabled. */
  disabledBecause: z.enum(DISABLED_BECAUSE).optional(),
  /** What a webhook's requests are signed with, sealed for this subscription. */
  secret: z.string().optional(),
  /** The one before, until when it signs as well. */
  previousSecret: z.string().optional(),
  previousUntil: z.iso.datetime().optional(),
  /** Deliveries given up in a row. */
  failures: z.int(),
  version: z.int(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  updatedBy: z.string(),
  requestHash: z.string().optional(),
})
export type Subscription = z.infer<typeof Subscription>

// Access patterns: one subscription by id; a principal's, newest first.
export const subscriptionKey = (id: Id<'subscription'>): table.Key => ({
  pk: id,
  sk: 'subscription',
})
const listOf = (principalId: PrincipalId) => `${principalId}#subscription`
export const subscriptionIndexes = ({ id, principalId, createdAt }: Subscription) => ({
  gsi1pk: listOf(principalId),
  gsi1sk: `${createdAt}#${id}`,
})

export const findSubscription = (id: Id<'subscription'>) =>
  table.get(Subscription, subscriptionKey(id))

/** One subscription, or NOT_FOUND. */
export const getSubscription = async (id: Id<'subscription'>): Promise<Subscription> => {
  const subscription = await findSubscription(id)
  if (!subscription) throw notFound('subscription', id)
  return subscription
}

export const listSubscriptions = (
  principalId: PrincipalId,
  page: { limit: number; cursor?: string },
) =>
  table.query(Subscription, {
    index: 'gsi1',
    pk: listOf(principalId),
    newestFirst: true,
    ...page,
  })

/** All that a principal has; there are few. */
export const allSubscriptions = (principalId: PrincipalId): Promise<Subscription[]> =>
  table.queryAll(Subscription, { index: 'gsi1', pk: listOf(principalId) })
