import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { newId } from '../core/ids.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { type Delivery, newDelivery } from './delivery.ts'
import { TEST_EVENT } from './event.ts'
import type { Subscription } from './subscription.ts'

/** Records a notice that tells nothing but that it arrives: the writes, for whoever announces them. */
export const recordTest = async (
  { id: subscriptionId, principalId }: Subscription,
  { clock = systemClock }: { clock?: Clock } = {},
): Promise<{ id: Delivery['id']; writes: TransactionWrite[] }> => {
  const id = newId('delivery', clock.now().getTime())
  const data = { subscription_id: subscriptionId, principal_id: principalId }
  const body = JSON.stringify({ type: TEST_EVENT, timestamp: isoNow(clock), data })
  const writes = [newDelivery({ id, subscriptionId, event: TEST_EVENT, body }, clock)]
  await transact(writes)
  return { id, writes }
}
