import * as z from 'zod'
import { idOf } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'

/** Who owns agents, media and settings: a user or a group. */
export const PrincipalId = z.union([idOf('user'), idOf('group')])
export type PrincipalId = z.infer<typeof PrincipalId>

export const User = z.object({
  id: idOf('user'),
  name: z.string(),
  /** Admins govern the whole instance: its global settings, and every principal. */
  role: z.enum(['admin', 'member']),
  createdAt: z.iso.datetime(),
  /** Since when nothing that proves this user counts: no key, no session. */
  disabledAt: z.iso.datetime().optional(),
  requestHash: z.string().optional(),
})
export type User = z.infer<typeof User>

// Access patterns: one principal by id; all users, newest first; how many admins there are.
export const principalKey = (id: PrincipalId): table.Key => ({ pk: id, sk: 'principal' })
export const ALL_USERS = 'instance#user'
const indexesOf = ({ id, createdAt }: User) => ({
  gsi1pk: ALL_USERS,
  gsi1sk: `${createdAt}#${id}`,
})
const adminsKey: table.Key = { pk: 'instance', sk: 'admins' }

/** The making of a user as a part of a transaction. */
export const newUser = (user: User): TransactionWrite[] => [
  { insert: user, key: principalKey(user.id), indexes: indexesOf(user) },
  ...(isActiveAdmin(user) ? [adminsBy(1)] : []),
]

/** Makes a user; where its id is taken, says so with the user that has it. */
export const createUser = async (
  user: User,
  { also = [] }: { also?: TransactionWrite[] } = {},
): Promise<table.Outcome<User>> => {
  const outcome = await transact([...newUser(user), ...also])
  if (outcome.ok) return { ok: true, item: user }
  return { ok: false, item: await table.get(User, principalKey(user.id)) }
}

export const isActiveAdmin = ({ role, disabledAt }: User): boolean =>
  role === 'admin' && disabledAt === undefined

/** The count of admins that count themselves; it never falls to none. */
export const adminsBy = (change: 1 | -1): TransactionWrite => ({
  key: adminsKey,
  update: { add: { admins: change } },
  ...(change < 0 ? { where: { admins: is.above(1) } } : { create: true }),
})

/** How many admins count. */
export const countAdmins = async (): Promise<number> =>
  (await table.get(Admins, adminsKey))?.admins ?? 0
const Admins = z.object({ admins: z.int() })

/** What the rows of users and of groups have in common. */
const Principal = z.object({ id: PrincipalId, name: z.string() })
export type Principal = z.infer<typeof Principal>

/** A user or a group by its id, or undefined. */
export const findPrincipal = (id: PrincipalId): Promise<Principal | undefined> =>
  table.get(Principal, principalKey(id))

export const principalExists = async (id: PrincipalId): Promise<boolean> =>
  (await findPrincipal(id)) !== undefined
