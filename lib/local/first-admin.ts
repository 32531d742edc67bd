import { isoNow } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { derivedId, type Id } from '../core/ids.ts'
import * as keys from '../principal/key.ts'
import { createUser } from '../principal/principal.ts'

/** A key of one's own choosing has at least so many characters. */
export const MIN_CHOSEN_KEY_CHARS = 16
const CHOSEN = 'ESPALIER_ADMIN_KEY'

/**
 * Makes the instance's first admin and a key for it: the one that was chosen, or at the first
 * start a new one, whose text is returned this once. A chosen key replaces the one chosen before.
 */
export const ensureAdmin = async (
  chosen: string | undefined,
): Promise<{ userId: Id<'user'>; newKey?: string }> => {
  const userId = derivedId('user', 'first-admin')
  const { ok: isFirst } = await createUser({
    id: userId,
    name: 'Admin',
    role: 'admin',
    createdAt: isoNow(),
  })
  const owner = { subjectId: userId, principalId: userId, scopes: ['decide' as const] }
  if (chosen !== undefined) {
    if (chosen.length < MIN_CHOSEN_KEY_CHARS || /\s/.test(chosen))
      throw new AppError(
        'NOT_CONFIGURED',
        `${CHOSEN} must have at least ${MIN_CHOSEN_KEY_CHARS} characters and no spaces. Leave it out to have a key made.`,
      )
    const { key } = await keys.createKey({ name: CHOSEN, ...owner }, { text: chosen })
    await forgetOthers(userId, key.id)
    return { userId }
  }
  if (!isFirst) return { userId }
  return { userId, newKey: (await keys.createKey({ name: 'First key', ...owner })).text }
}

/** Forgotten, not revoked: whoever goes back to a key chosen before must not be locked out. */
const forgetOthers = async (userId: Id<'user'>, chosenId: Id<'key'>): Promise<void> => {
  for (const key of await keys.listKeys(userId))
    if (key.name === CHOSEN && key.id !== chosenId) await keys.deleteKey(key.id)
}
