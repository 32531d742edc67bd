import type { Author } from '../audit/audit.ts'
import { isoIn, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { atVersion } from '../data/at-version.ts'
import { transact } from '../data/transact.ts'
import { entryOf } from './entry.ts'
import { ROTATION_HOURS } from './limits.ts'
import { openSecret, sealSecret } from './secrets.ts'
import { newSecret } from './sign.ts'
import { type Subscription, subscriptionKey } from './subscription.ts'

/**
 * Gives a webhook another secret, shown this once; the one before signs as well for a while.
 * Undefined where it is of another version by now, INVALID_STATE where it
 * sends e-mails.
 */
export const rotateSecret = async (
  current: Subscription,
  author: Author,
): Promise<{ secret: string; previousUntil: string | undefined } | undefined> => {
  const { id, version } = current
  if (current.url === undefined)
    throw new AppError('INVALID_STATE', 'E-mails are not signed: this subscription has no secret.')
  const clock = author.clock ?? systemClock
  const secret = newSecret()
  const previous = openSecret(current, 'secret')
  const previousUntil =
    previous === undefined ? undefined : isoIn(ROTATION_HOURS * 3_600_000, clock)
  const outcome = await transact([
    {
      key: subscriptionKey(id),
      update: {
        set: {
          secret: sealSecret(secret, current, 'secret'),
          version: version + 1,
          updatedAt: isoNow(clock),
          updatedBy: author.by,
          ...(previous === undefined
            ? {}
            : { previousSecret: sealSecret(previous, current, 'previousSecret'), previousUntil }),
        },
        ...(previous === undefined ? { remove: ['previousSecret', 'previousUntil'] } : {}),
      },
      where: atVersion(version),
    },
    entryOf('subscription-secret-rotated', current, author, {}),
  ])
  return outcome.ok ? { secret, previousUntil } : undefined
}
