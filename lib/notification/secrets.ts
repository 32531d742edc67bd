import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Source } from '../settings/rotate.ts'
import { decrypt, encrypt, type Place } from '../settings/secret.ts'
import { Subscription } from './subscription.ts'

type Owned = Pick<Subscription, 'id' | 'principalId'>

/** Where a subscription's secrets are at home; no tool has such a name. */
const placeOf = ({ id, principalId }: Owned, attribute: SecretAttribute): Place => ({
  layer: principalId,
  tool: `subscription-${attribute}`,
  key: id,
})

const ATTRIBUTES = ['secret', 'previousSecret'] as const
type SecretAttribute = (typeof ATTRIBUTES)[number]

export const sealSecret = (secret: string, owner: Owned, attribute: SecretAttribute): string =>
  encrypt(secret, placeOf(owner, attribute))

/** One of a subscription's secrets, or undefined where it has none or no key opens it. */
export const openSecret = (
  subscription: Subscription,
  attribute: SecretAttribute,
): string | undefined => {
  const sealed = subscription[attribute]
  return sealed === undefined ? undefined : decrypt(sealed, placeOf(subscription, attribute))
}

/**
 * The secrets that sign now, the current one first. DECRYPTION_FAILED where the current one can't be
 * opened: a receiver would take nothing that the one before signed for much longer.
 */
export const signingSecrets = (
  subscription: Subscription,
  clock: Clock = systemClock,
): readonly string[] => {
  const current = openSecret(subscription, 'secret')
  if (current === undefined)
    throw new AppError(
      'DECRYPTION_FAILED',
      `The signing secret of the subscription "${subscription.name}" can't be decrypted. Rotate it.`,
    )
  const { previousUntil } = subscription
  const isOver = previousUntil === undefined || previousUntil <= isoNow(clock)
  const previous = isOver ? undefined : openSecret(subscription, 'previousSecret')
  return previous === undefined ? [current] : [current, previous]
}

const Sealing = z
  .object(Subscription.shape)
  .pick({ id: true, principalId: true, secret: true, previousSecret: true })

/** The secrets of subscriptions, for the rotation of the keys that seal them. */
export const subscriptionSource: Source = {
  prefix: 'subscription_',
  sealedIn: row => {
    const subscription = Sealing.parse(row)
    return ATTRIBUTES.flatMap(attribute => {
      const sealed = subscription[attribute]
      if (sealed === undefined) return []
      const place = placeOf(subscription, attribute)
      return [{ attribute, sealed, place, replaced: (value: string) => value, isSecret: true }]
    })
  },
}
