import { type Clock, systemClock } from '../lib/core/clock.ts'
import { config } from '../lib/core/config.ts'
import { type Id, newId } from '../lib/core/ids.ts'
import { transact } from '../lib/data/transact.ts'
import { SESSION_COOKIE } from '../lib/http/session.ts'
import { csrfTokenOf, newSession } from '../lib/principal/session.ts'

/** A session of a user's, as sign-in makes it, with what a page of ours sends along. */
export const makeSession = async (userId: Id<'user'>, clock: Clock = systemClock) => {
  const id = newId('session')
  const { session, text, writes } = newSession({ id, userId, userAgent: 'A test' }, clock)
  await transact(writes)
  const cookie = `${SESSION_COOKIE}=${text}`
  return {
    session,
    text,
    cookie,
    headers: {
      cookie,
      origin: new URL(config('publicUrl')).origin,
      'x-csrf-token': csrfTokenOf(text),
    },
  }
}
