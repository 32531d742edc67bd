import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { ALL_USERS, adminsBy, isActiveAdmin, principalKey, User } from './principal.ts'

/** One user, or NOT_FOUND. */
export const getUser = async (id: Id<'user'>): Promise<User> => {
  const user = await table.get(User, principalKey(id))
  if (!user) throw notFound('user', id)
  return user
}

export const listUsers = (page: { limit: number; cursor?: string }) =>
  table.query(User, { index: 'gsi1', pk: ALL_USERS, newestFirst: true, ...page })

/** The users of these ids that exist, in one batched read. */
export const getUsers = async (ids: Id<'user'>[]): Promise<Map<string, User>> => {
  const found = await table.batchGet(ids.map(principalKey))
  return new Map(
    ids.flatMap(id => {
      const user = found.get(User, principalKey(id))
      return user ? [[id, user]] : []
    }),
  )
}

export type UserChange = { name?: string; role?: User['role']; disabled?: boolean }

/** The user as a change makes it. Who is disabled already stays so since then. */
export const changed = (
  { disabledAt, ...user }: User,
  { name = user.name, role = user.role, disabled = disabledAt !== undefined }: UserChange,
  clock: Clock = systemClock,
): User => ({
  ...user,
  name,
  role,
  ...(disabled ? { disabledAt: disabledAt ?? isoNow(clock) } : {}),
})

/**
 * Puts a user as it is to be in the place of the one that was seen. INVALID_STATE where someone
 * else changed it since; ROLE_RULE_VIOLATION where no admin would be left.
 */
export const replaceUser = async (
  seen: User,
  next: User,
  { also = [] }: { also?: TransactionWrite[] } = {},
): Promise<User> => {
  const { name, role, disabledAt } = next
  const outcome = await transact([
    {
      key: principalKey(seen.id),
      update: {
        set: { name, role, disabledAt },
        ...(disabledAt ? {} : { remove: ['disabledAt'] }),
      },
      where: { name: seen.name, role: seen.role, disabledAt: seen.disabledAt ?? is.absent },
    },
    ...countBy(seen, next),
    ...also,
  ])
  if (outcome.ok) return next
  if (outcome.failed.includes(0))
    throw new AppError('INVALID_STATE', 'Someone else changed this user just now. Read it again.')
  throw new AppError(
    'ROLE_RULE_VIOLATION',
    'The instance has at least one admin. Make someone else one first.',
  )
}

const countBy = (seen: User, next: User): TransactionWrite[] => {
  const before = isActiveAdmin(seen)
  if (before === isActiveAdmin(next)) return []
  return [adminsBy(before ? -1 : 1)]
}
