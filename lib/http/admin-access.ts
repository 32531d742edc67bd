import { AppError } from '../core/errors.ts'
import type { Caller } from '../principal/caller.ts'
import { allows, relationToInstance } from '../principal/permission.ts'
import { access } from './access.ts'

/** Lets through whom the table of permissions lets manage the instance; others are FORBIDDEN. */
export const demandInstance = (caller: Caller): Caller & { kind: 'user' } => {
  if (caller.kind === 'user' && allows(relationToInstance(caller), 'manage-instance')) return caller
  throw new AppError('FORBIDDEN', 'Only an admin of the instance may do this.')
}

export const instanceAdmin = access({
  who: 'An admin’s key.',
  errors: ['FORBIDDEN'],
  find: ({ caller }) => demandInstance(caller),
})
