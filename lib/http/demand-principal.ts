import { notFound } from '../core/errors.ts'
import type { Caller } from '../principal/caller.ts'
import type { Permission } from '../principal/permission.ts'
import { type PrincipalId, principalExists } from '../principal/principal.ts'
import { demand } from './access.ts'

/**
 * That a principal is there and the caller may do this with what it owns: NOT_FOUND where it may not
 * even read that, FORBIDDEN where reading is not enough.
 */
export const demandPrincipal = async (
  caller: Caller,
  permission: Permission,
  principalId: PrincipalId,
): Promise<void> => {
  const missing = () => notFound('principal', principalId)
  await demand(caller, permission, { principalId }, missing)
  // An admin may ask about everyone, and a mistyped id is no one.
  if (principalId !== caller.principalId && !(await principalExists(principalId))) throw missing()
}
