import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { derivedId, type Id } from '../core/ids.ts'
import type { TransactionWrite } from '../data/transact.ts'
import { findDeliveries, newDelivery } from './delivery.ts'
import type { NoticeEvent } from './event.ts'
import { EXPIRING_FRACTION, MIN_EXPIRING_MS } from './limits.ts'
import { listenersOf } from './listeners.ts'
import { bodyOf, isForPeople, type Notice, partsOf, principalOf, waitsUntil } from './notice.ts'

/**
 * What records that there is something to tell: writes for the transaction of the move itself, so
 * that nothing is told that did not happen, and nothing that happened is lost. None where it is not
 * for people, or nobody listens; that costs one consistent read at most. What was recorded before is
 * not recorded again.
 */
export const outboxWrites = async (
  notice: Notice,
  clock: Clock = systemClock,
): Promise<TransactionWrite[]> => {
  if (!isForPeople(notice)) return []
  const listeners = await listenersOf(principalOf(notice))
  const wanted = tellings(notice, clock).flatMap(telling =>
    listeners
      .filter(({ events }) => events.includes(telling.event))
      .map(({ id }) => ({ ...telling, subscriptionId: id, id: deliveryIdOf(id, telling, notice) })),
  )
  if (wanted.length === 0) return []
  const known = await findDeliveries(wanted.map(({ id }) => id))
  return wanted.filter(({ id }) => !known.has(id)).map(made => newDelivery(made, clock))
}

type Telling = Pick<Parameters<typeof newDelivery>[0], 'body' | 'whileWaiting' | 'sendAt'> & {
  event: NoticeEvent
}

const deliveryIdOf = (
  subscriptionId: Id<'subscription'>,
  { event }: Telling,
  notice: Notice,
): Id<'delivery'> => derivedId('delivery', subscriptionId, event, ...partsOf(notice))

/** A notice as it is told now, and once more before what it tells of expires. */
const tellings = (notice: Notice, clock: Clock): Telling[] => {
  const now = isoNow(clock)
  const first: Telling = { event: notice.type, body: bodyOf(notice, notice.type, now) }
  const until = notice.type === 'call.waiting' ? waitsUntil(notice.call) : undefined
  if (notice.type !== 'call.waiting' || until === undefined) return [first]
  const { id: callId, status, digest } = notice.call
  const sendAt = expiringAt(until, clock)
  return [
    first,
    {
      event: 'call.expiring',
      body: bodyOf(notice, 'call.expiring', sendAt),
      // A decision is about one form of the call; a question has but one.
      whileWaiting: { callId, ...(status === 'PENDING_APPROVAL' && digest ? { digest } : {}) },
      sendAt,
    },
  ]
}

/** When a wait that begins now is told of once more; of a short one, at once. */
const expiringAt = (expiresAt: string, clock: Clock): string => {
  const [now, end] = [clock.now().getTime(), Date.parse(expiresAt)]
  const before = Math.max((end - now) * EXPIRING_FRACTION, MIN_EXPIRING_MS)
  return new Date(Math.max(end - before, now)).toISOString()
}
