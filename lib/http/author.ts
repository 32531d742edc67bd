import type { Author } from '../audit/audit.ts'
import type { Caller } from '../principal/caller.ts'

/** Who makes a change, as the log has it. */
export const authorOf = ({ id, keyId }: Pick<Caller, 'id' | 'keyId'>): Author => ({ by: id, keyId })
