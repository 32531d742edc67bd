import * as z from 'zod'
import {
  ATTEMPT_RESULTS,
  type Delivery,
  DeliveryStatus,
  DROPPED_BECAUSE,
} from '../notification/delivery.ts'
import { NoticeEvent, TEST_EVENT } from '../notification/event.ts'
import { DISABLED_BECAUSE, type Subscription } from '../notification/subscription.ts'
import { DeliveryId, PrincipalId, SubscriptionId, Time } from './wire.ts'

export const SubscriptionView = z
  .object({
    id: SubscriptionId,
    principal_id: PrincipalId,
    name: z.string(),
    url: z.string().nullable().describe('Where a webhook is posted to; null: it sends e-mails.'),
    emails: z.array(z.string()).nullable(),
    events: z.array(NoticeEvent),
    enabled: z.boolean(),
    disabled_because: z
      .enum(DISABLED_BECAUSE)
      .nullable()
      .describe('`gone`: the receiver answered 410; `failing`: nothing arrived for days.'),
    previous_secret_until: Time.nullable().describe('Until when the secret before signs as well.'),
    version: z.int().describe('Rises with each change; the ETag repeats it.'),
    created_at: Time,
    updated_at: Time,
    updated_by: z.string(),
  })
  .meta({ id: 'Subscription', description: 'Where one is told, and of what; without its secret.' })

const SECRET =
  'What signatures are checked with, in the form that libraries of Standard Webhooks take.'

export const NewSubscriptionView = z
  .object({
    ...SubscriptionView.shape,
    secret: z
      .string()
      .nullable()
      .describe(`${SECRET} Shown this once; null for e-mails, and where it was shown before.`),
  })
  .meta({ id: 'ShownSubscription' })

export const RotatedSecretView = z
  .object({
    id: SubscriptionId,
    secret: z.string().describe(`${SECRET} Shown this once.`),
    previous_secret_until: Time.nullable().describe('Until when the secret before signs as well.'),
  })
  .meta({ id: 'RotatedSecret' })

export const DeliveryView = z
  .object({
    id: DeliveryId,
    event: z.union([NoticeEvent, z.literal(TEST_EVENT)]),
    status: DeliveryStatus,
    dropped_because: z.enum(DROPPED_BECAUSE).nullable(),
    attempts: z.array(
      z.object({
        at: Time,
        result: z
          .enum(ATTEMPT_RESULTS)
          .describe('`status`: it answered, and not with 2xx; `refused`: it may not be sent to.'),
        http_status: z.int().nullable(),
      }),
    ),
    created_at: Time,
    next_attempt_at: Time.nullable(),
    ended_at: Time.nullable(),
  })
  .meta({ id: 'NoticeDelivery', description: 'A notice on its way, and each attempt to send it.' })

/** A subscription on the wire, without its secret. */
export const presentSubscription = (
  subscription: Subscription,
): z.infer<typeof SubscriptionView> => ({
  id: subscription.id,
  principal_id: subscription.principalId,
  name: subscription.name,
  url: subscription.url ?? null,
  emails: subscription.emails ?? null,
  events: subscription.events,
  enabled: subscription.disabledBecause === undefined,
  disabled_because: subscription.disabledBecause ?? null,
  previous_secret_until: subscription.previousUntil ?? null,
  version: subscription.version,
  created_at: subscription.createdAt,
  updated_at: subscription.updatedAt,
  updated_by: subscription.updatedBy,
})

export const presentDelivery = (delivery: Delivery): z.infer<typeof DeliveryView> => ({
  id: delivery.id,
  event: delivery.event,
  status: delivery.status,
  dropped_because: delivery.droppedBecause ?? null,
  attempts: delivery.attempts.map(({ at, result, httpStatus }) => ({
    at,
    result,
    http_status: httpStatus ?? null,
  })),
  created_at: delivery.createdAt,
  next_attempt_at: delivery.status === 'PENDING' ? delivery.nextAt : null,
  ended_at: delivery.endedAt ?? null,
})
