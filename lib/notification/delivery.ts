import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { type Id, idOf } from '../core/ids.ts'
import { DUE_ATTRIBUTES, dueIndex } from '../data/due.ts'
import * as table from '../data/table.ts'
import type { TransactionWrite } from '../data/transact.ts'
import { NoticeEvent, TEST_EVENT } from './event.ts'
import { KEPT_DAYS } from './limits.ts'

/** What became of an attempt; `unknown`: nobody said, since the process died. */
export const ATTEMPT_RESULTS = [
  'delivered',
  'status',
  'unreachable',
  'refused',
  'not-configured',
  'secret-unreadable',
  'unknown',
] as const

export const Attempt = z.object({
  at: z.iso.datetime(),
  result: z.enum(ATTEMPT_RESULTS),
  /** What the receiver answered with; its words are not kept. */
  httpStatus: z.int().optional(),
})
export type Attempt = z.infer<typeof Attempt>

export const DeliveryStatus = z.enum(['PENDING', 'DELIVERED', 'FAILED', 'DROPPED'])
export type DeliveryStatus = z.infer<typeof DeliveryStatus>

/** Why nothing was sent: there was nothing to tell any more, or nobody to tell it to. */
export const DROPPED_BECAUSE = ['waits-no-more', 'disabled', 'deleted'] as const

/** One notice on its way to one subscription. Its id is what receivers know it by. */
export const Delivery = z.object({
  id: idOf('delivery'),
  subscriptionId: idOf('subscription'),
  event: z.union([NoticeEvent, z.literal(TEST_EVENT)]),
  /** What is sent, to the letter: each attempt sends the same. Once it is over, nobody needs it. */
  body: z.string().optional(),
  /** It is sent only while this call waits in this form. */
  whileWaiting: z.object({ callId: idOf('call'), digest: z.string().optional() }).optional(),
  status: DeliveryStatus,
  attempts: z.array(Attempt),
  createdAt: z.iso.datetime(),
  /** Not before this is it sent, or sent again. */
  nextAt: z.iso.datetime(),
  endedAt: z.iso.datetime().optional(),
  droppedBecause: z.enum(DROPPED_BECAUSE).optional(),
  /** Whose attempt it is that goes on. */
  claim: z.string().optional(),
})
export type Delivery = z.infer<typeof Delivery>

// Access patterns: one delivery by id; a subscription's, newest first. What was not delivered yet is
// in the list of what is due (`data/due.ts`).
export const deliveryKey = (id: Id<'delivery'>): table.Key => ({ pk: id, sk: 'delivery' })
const listOf = (subscriptionId: Id<'subscription'>) => `${subscriptionId}#delivery`

/** The making of a delivery as a part of a transaction. */
export const newDelivery = (
  made: Pick<Delivery, 'id' | 'subscriptionId' | 'event' | 'whileWaiting'> & {
    body: string
    sendAt?: string
  },
  clock: Clock = systemClock,
): Extract<TransactionWrite, { insert: object }> => {
  const { sendAt, ...rest } = made
  const createdAt = isoNow(clock)
  const nextAt = sendAt ?? createdAt
  const delivery: Delivery = { ...rest, status: 'PENDING', attempts: [], createdAt, nextAt }
  return {
    insert: delivery,
    key: deliveryKey(delivery.id),
    indexes: {
      gsi1pk: listOf(delivery.subscriptionId),
      gsi1sk: `${createdAt}#${delivery.id}`,
      ...dueIndex(delivery.id, nextAt),
    },
    ttl: Math.ceil(clock.now().getTime() / 1_000) + KEPT_DAYS * 86_400,
  }
}

export const getDelivery = (id: Id<'delivery'>) => table.get(Delivery, deliveryKey(id))

/** Those of these deliveries that are there. */
export const findDeliveries = async (
  ids: Id<'delivery'>[],
): Promise<ReadonlySet<Id<'delivery'>>> => {
  const found = await table.batchGet(ids.map(deliveryKey))
  return new Set(ids.filter(id => found.get(z.unknown(), deliveryKey(id)) !== undefined))
}

export const listDeliveries = (
  subscriptionId: Id<'subscription'>,
  page: { limit: number; cursor?: string },
) =>
  table.query(Delivery, { index: 'gsi1', pk: listOf(subscriptionId), newestFirst: true, ...page })

/**
 * Begins an attempt, of which only one of those who see that it is due comes to begin it. It is noted
 * before anything is sent, with when the next one follows: whoever dies in it uses it up.
 */
export const beginAttempt = async (
  { id, nextAt, attempts }: Delivery,
  { again, claim, clock }: { again: string; claim: string; clock: Clock },
): Promise<Delivery | undefined> => {
  const attempt: Attempt = { at: isoNow(clock), result: 'unknown' }
  const outcome = await table.update(
    Delivery,
    deliveryKey(id),
    { set: { attempts: [...attempts, attempt], nextAt: again, ...dueIndex(id, again) } },
    { where: { status: 'PENDING', nextAt }, claim },
  )
  return outcome.ok ? outcome.item : undefined
}

/** Notes what became of the attempt that goes on, and when the next one follows. */
export const noteAttempt = async (
  delivery: Delivery,
  attempt: Attempt,
  { again }: { again: string },
): Promise<void> => {
  await table.update(
    Delivery,
    deliveryKey(delivery.id),
    {
      set: {
        attempts: withLast(delivery, attempt),
        nextAt: again,
        ...dueIndex(delivery.id, again),
      },
    },
    { where: { status: 'PENDING', claim: delivery.claim } },
  )
}

/** Ends a delivery for good, unless someone else has gone on with it. */
export const endDelivery = async (
  delivery: Delivery,
  end: Pick<Delivery, 'droppedBecause'> & {
    status: Exclude<DeliveryStatus, 'PENDING'>
    attempt?: Attempt
  },
  clock: Clock = systemClock,
): Promise<void> => {
  const { attempt, ...set } = end
  await table.update(
    Delivery,
    deliveryKey(delivery.id),
    {
      set: {
        ...set,
        ...(attempt ? { attempts: withLast(delivery, attempt) } : {}),
        endedAt: isoNow(clock),
      },
      remove: [...DUE_ATTRIBUTES, 'body'],
    },
    { where: { status: 'PENDING', nextAt: delivery.nextAt } },
  )
}

const withLast = ({ attempts }: Delivery, attempt: Attempt): Attempt[] => [
  ...attempts.slice(0, -1),
  attempt,
]
