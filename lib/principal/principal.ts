import * as z from 'zod'
import { idOf } from '../core/ids.ts'
import * as table from '../data/table.ts'

/** Who owns agents, media and settings: a user or a group. */
export const PrincipalId = z.union([idOf('user'), idOf('group')])
export type PrincipalId = z.infer<typeof PrincipalId>

export const User = z.object({
  id: idOf('user'),
  name: z.string(),
  /** Admins govern the whole instance: its global settings, and every principal. */
  role: z.enum(['admin', 'member']),
  createdAt: z.iso.datetime(),
})
export type User = z.infer<typeof User>

// Access patterns: one principal by id.
export const principalKey = (id: PrincipalId): table.Key => ({ pk: id, sk: 'principal' })

export const createUser = (user: User) => table.insert(User, user, { key: principalKey(user.id) })

/** What the rows of users and of groups have in common. */
const Principal = z.object({ id: PrincipalId, name: z.string() })
export type Principal = z.infer<typeof Principal>

/** A user or a group by its id, or undefined. */
export const findPrincipal = (id: PrincipalId): Promise<Principal | undefined> =>
  table.get(Principal, principalKey(id))

export const principalExists = async (id: PrincipalId): Promise<boolean> =>
  (await findPrincipal(id)) !== undefined
