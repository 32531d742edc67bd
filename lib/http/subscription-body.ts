import * as z from 'zod'
import { optionalConfig, variableOf } from '../core/config.ts'
import { AppError } from '../core/errors.ts'
import { invalid } from '../core/problems.ts'
import type { SubscriptionFields } from '../notification/change.ts'
import { EVENTS, NoticeEvent } from '../notification/event.ts'
import { MAX_EMAIL_CHARS, MAX_EMAILS, MAX_URL_CHARS } from '../notification/limits.ts'
import { checkTarget } from '../notification/target.ts'
import { Name, PrincipalId } from './wire.ts'

const fields = {
  name: Name,
  url: z
    .url({ protocol: /^https?$/ })
    .max(MAX_URL_CHARS)
    .describe('Where a webhook is posted to: https, unless the operator allows the host.'),
  emails: z
    .array(z.email().max(MAX_EMAIL_CHARS))
    .min(1)
    .max(MAX_EMAILS)
    .describe('Who gets an e-mail, where the instance has a sender.'),
  events: z
    .array(NoticeEvent)
    .min(1)
    .max(EVENTS.length)
    .describe('What is told of; absent at the making, everything.'),
  enabled: z.boolean(),
}

export const SubscriptionBody = z
  .strictObject({
    ...z.object(fields).partial().shape,
    name: fields.name,
    principal_id: PrincipalId.optional().describe('Whose it is: the caller’s own, if not said.'),
  })
  .meta({
    id: 'NewSubscription',
    description: 'Has either a `url` or `emails`.',
    examples: [{ name: 'Our chat', url: 'https://example.com/hook', events: ['call.waiting'] }],
  })

export const SubscriptionPatch = z
  .strictObject(z.object(fields).partial().shape)
  .meta({ id: 'SubscriptionChange', examples: [{ enabled: false }] })

type Said = z.infer<typeof SubscriptionPatch>

/** What a body says of a subscription, in our own words, once its addresses may be sent to. */
export const subscriptionFieldsOf = async (said: Said): Promise<Partial<SubscriptionFields>> => {
  const { name, url, emails, events, enabled: isEnabled } = said
  if (url !== undefined) await checkTarget(url)
  if (emails !== undefined && optionalConfig('emailSender') === undefined)
    throw new AppError(
      'NOT_CONFIGURED',
      `This instance sends no e-mails: its operator has to set ${variableOf('emailSender')}. Webhooks work without.`,
    )
  const once = <T>(list: T[] | undefined) => list && [...new Set(list)]
  const all = { name, url, emails: once(emails), events: once(events), isEnabled }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** Refuses a subscription that leads nowhere, or to two kinds of places. */
export const checkOneTarget = ({ url, emails }: { url?: unknown; emails?: unknown }): void => {
  if ((url === undefined) !== (emails === undefined)) return
  throw invalid('The subscription is not valid.', [
    {
      field: url === undefined ? 'url' : 'emails',
      message: 'A subscription has either a "url" or "emails"; make two to have both.',
    },
  ])
}
