import * as z from 'zod'
import { governingUser } from '../../lib/http/access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { authorOf } from '../../lib/http/author.ts'
import { demandPrincipal } from '../../lib/http/demand-principal.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import { listOwner, OwnerQuery } from '../../lib/http/list-owner.ts'
import {
  DeliveryView,
  NewSubscriptionView,
  presentDelivery,
  presentSubscription,
  RotatedSecretView,
  SubscriptionView,
} from '../../lib/http/present-subscription.ts'
import { creationOf, sameRequest } from '../../lib/http/request.ts'
import { managedSubscription } from '../../lib/http/subscription-access.ts'
import {
  checkOneTarget,
  SubscriptionBody,
  SubscriptionPatch,
  subscriptionFieldsOf,
} from '../../lib/http/subscription-body.ts'
import { changeVersion, etagOf } from '../../lib/http/version.ts'
import { DeliveryId, SubscriptionId } from '../../lib/http/wire.ts'
import { announce } from '../../lib/notification/announce.ts'
import {
  createSubscription,
  deleteSubscription,
  updateSubscription,
} from '../../lib/notification/change.ts'
import { listDeliveries } from '../../lib/notification/delivery.ts'
import { EVENTS } from '../../lib/notification/event.ts'
import { KEPT_DAYS, MAX_SUBSCRIPTIONS, ROTATION_HOURS } from '../../lib/notification/limits.ts'
import { recordTest } from '../../lib/notification/record-test.ts'
import { rotateSecret } from '../../lib/notification/rotate-secret.ts'
import { getSubscription, listSubscriptions } from '../../lib/notification/subscription.ts'
import { limitNoticeTests } from '../../lib/principal/rate-limit.ts'

const tag = 'Notices'
const path = '/api/v1/subscriptions'

export const endpoints = {
  listSubscriptions: endpoint(
    {
      method: 'GET',
      path,
      tag,
      summary: 'List subscriptions',
      access: governingUser,
      query: OwnerQuery,
      isPaged: true,
      responses: { 200: z.array(SubscriptionView) },
      errors: ['NOT_FOUND'],
    },
    async ({ subject: caller, query, page }) => {
      const owner = await listOwner(caller, query, 'manage-notices')
      const { items, cursor } = await listSubscriptions(owner, page)
      return replyPage(items.map(presentSubscription), cursor)
    },
  ),

  createSubscription: endpoint(
    {
      method: 'POST',
      path,
      tag,
      summary: 'Subscribe a webhook or e-mail addresses',
      description: `The answer is the one time that a webhook’s secret is shown. A principal has at most ${MAX_SUBSCRIPTIONS}.`,
      access: governingUser,
      isRepeatable: true,
      body: SubscriptionBody,
      responses: { 200: NewSubscriptionView, 201: NewSubscriptionView },
      errors: [
        'NOT_FOUND',
        'INVALID_STATE',
        'IDEMPOTENCY_MISMATCH',
        'FETCH_REFUSED',
        'NOT_CONFIGURED',
      ],
    },
    async ({ context, subject: caller, body, idempotencyKey }) => {
      const { principal_id: principalId = caller.principalId, ...said } = body
      await demandPrincipal(caller, 'manage-notices', principalId)
      checkOneTarget(said)
      const fields = await subscriptionFieldsOf(said)
      const { id, requestHash } = creationOf('subscription', {
        caller,
        route: 'subscriptions',
        body,
        idempotencyKey,
      })
      const { subscription, created, secret } = await createSubscription(
        {
          events: [...EVENTS],
          isEnabled: true,
          ...fields,
          name: said.name,
          id,
          principalId,
          requestHash,
        },
        authorOf(caller),
      )
      if (!created) sameRequest(subscription.requestHash, requestHash)
      context.header('etag', etagOf(subscription.version))
      return reply(created ? 201 : 200, {
        ...presentSubscription(subscription),
        secret: secret ?? null,
      })
    },
  ),

  getSubscription: endpoint(
    {
      method: 'GET',
      path: `${path}/{id}`,
      tag,
      summary: 'Show a subscription',
      access: managedSubscription,
      responses: { 200: SubscriptionView },
    },
    ({ context, subject: subscription }) => {
      context.header('etag', etagOf(subscription.version))
      return reply(200, presentSubscription(subscription))
    },
  ),

  updateSubscription: endpoint(
    {
      method: 'PATCH',
      path: `${path}/{id}`,
      tag,
      summary: 'Change a subscription',
      description:
        'What is absent stays. A webhook keeps its secret, and never becomes a list of e-mail addresses.',
      access: managedSubscription,
      ifMatch: 'required',
      body: SubscriptionPatch,
      responses: { 200: SubscriptionView },
      errors: ['FETCH_REFUSED', 'NOT_CONFIGURED'],
    },
    async ({ context, subject: subscription, caller, body, version }) => {
      const { url, emails } = subscription
      checkOneTarget({ ...(url ? { url } : { emails }), ...body })
      const fields = await subscriptionFieldsOf(body)
      const changed = await changeVersion(subscription, version, {
        change: current => updateSubscription(current, fields, authorOf(caller)),
        read: () => getSubscription(subscription.id),
      })
      context.header('etag', etagOf(changed.version))
      return reply(200, presentSubscription(changed))
    },
  ),

  deleteSubscription: endpoint(
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      tag,
      summary: 'Delete a subscription',
      description: 'What was not delivered yet never is.',
      access: managedSubscription,
      ifMatch: 'required',
      responses: { 200: z.object({ id: SubscriptionId, deleted: z.literal(true) }) },
    },
    async ({ subject: subscription, caller, version }) => {
      const { id } = subscription
      await changeVersion(subscription, version, {
        change: current => deleteSubscription(current, authorOf(caller)),
        read: () => getSubscription(id),
      })
      return reply(200, { id, deleted: true })
    },
  ),

  rotateSubscriptionSecret: endpoint(
    {
      method: 'POST',
      path: `${path}/{id}/rotate-secret`,
      tag,
      summary: 'Give a webhook another secret',
      description: `For ${ROTATION_HOURS} hours the one before signs as well, so that no receiver misses anything.`,
      access: managedSubscription,
      responses: { 200: RotatedSecretView },
      errors: ['INVALID_STATE'],
    },
    async ({ subject: subscription, caller }) => {
      const { id } = subscription
      const { secret, previousUntil } = await changeVersion(subscription, undefined, {
        change: current => rotateSecret(current, authorOf(caller)),
        read: () => getSubscription(id),
      })
      return reply(200, { id, secret, previous_secret_until: previousUntil ?? null })
    },
  ),

  testSubscription: endpoint(
    {
      method: 'POST',
      path: `${path}/{id}/test`,
      tag,
      summary: 'Send a notice that tells nothing',
      description: 'Once, also while it is disabled. Its deliveries say what came of it.',
      access: managedSubscription,
      responses: { 202: z.object({ delivery_id: DeliveryId }) },
    },
    async ({ subject: subscription, caller }) => {
      await limitNoticeTests(caller)
      const { id, writes } = await recordTest(subscription)
      await announce(writes)
      return reply(202, { delivery_id: id })
    },
  ),

  listSubscriptionDeliveries: endpoint(
    {
      method: 'GET',
      path: `${path}/{id}/deliveries`,
      tag,
      summary: 'List what was sent, and what became of it',
      description: `The newest first, for ${KEPT_DAYS} days. What receivers answer is not kept.`,
      access: managedSubscription,
      isPaged: true,
      responses: { 200: z.array(DeliveryView) },
    },
    async ({ subject: { id }, page }) => {
      const { items, cursor } = await listDeliveries(id, page)
      return replyPage(items.map(presentDelivery), cursor)
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))
