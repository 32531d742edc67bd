import * as z from 'zod'
import { notFound } from '../core/errors.ts'
import type { Caller } from '../principal/caller.ts'
import type { Permission } from '../principal/permission.ts'
import { principalExists } from '../principal/principal.ts'
import { demand } from './access.ts'
import { PrincipalId } from './wire.ts'

/** Whose things a list is of. */
export const OwnerQuery = z.object({
  principal_id: PrincipalId.optional().describe('Whose. Absent, those of the caller itself.'),
})

/**
 * Whose things a list is of, by its query: NOT_FOUND for a principal whose things the caller may
 * not read, FORBIDDEN where reading them is not enough.
 */
export const listOwner = async (
  caller: Caller,
  { principal_id: id = caller.principalId }: z.output<typeof OwnerQuery>,
  permission: Permission = 'read',
): Promise<z.output<typeof PrincipalId>> => {
  const missing = () => notFound('principal', id)
  await demand(caller, permission, { principalId: id }, missing)
  // An admin may ask for everyone's, and a mistyped id is no one.
  if (id !== caller.principalId && !(await principalExists(id))) throw missing()
  return id
}
