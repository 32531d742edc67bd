import { AppError, hasCode } from '../core/errors.ts'
import { allowedHosts, isAllowed } from '../web/allowed.ts'
import { type Resolve, vet } from '../web/target.ts'

/** Names are resolved when something is sent to them, and not before. */
const unresolved: Resolve = async () => []

/**
 * Lets through what a webhook may be sent to, as far as its address tells: https, or http where the
 * operator lets its host be fetched from; nothing inside. FETCH_REFUSED says what is wrong with it.
 */
export const checkTarget = async (text: string): Promise<void> => {
  const url = new URL(text)
  const allowed = allowedHosts()
  if (url.protocol !== 'https:' && !isAllowed(url, allowed))
    throw new AppError(
      'FETCH_REFUSED',
      `${url.origin === 'null' ? url.protocol : url.origin} is not sent to: use an https address. Only the operator can allow another, by ESPALIER_FETCH_ALLOW.`,
    )
  try {
    await vet(url, { allowed, resolve: unresolved })
  } catch (error) {
    if (!hasCode(error, 'FETCH_FAILED')) throw error
  }
}
