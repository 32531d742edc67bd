import { notFound } from '../core/errors.ts'
import { getSubscription } from '../notification/subscription.ts'
import { access, demand } from './access.ts'
import { SubscriptionId } from './wire.ts'

/** The subscription in the path. Who may only read learns no address: it may hold a secret. */
export const managedSubscription = access({
  who: 'A key of its owner, of an owner or admin of the group that it belongs to, or an admin’s.',
  what: 'subscription',
  params: { id: SubscriptionId },
  errors: ['NOT_FOUND', 'FORBIDDEN'],
  find: async ({ caller, params: { id } }) => {
    const subscription = await getSubscription(id)
    await demand(caller, 'manage-notices', subscription, () => notFound('subscription', id))
    return subscription
  },
})
