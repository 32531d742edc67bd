import * as z from 'zod'
import type { Caller } from '../principal/caller.ts'
import type { Permission } from '../principal/permission.ts'
import { demandPrincipal } from './demand-principal.ts'
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
  await demandPrincipal(caller, permission, id)
  return id
}
