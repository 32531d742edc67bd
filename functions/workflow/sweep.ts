import { runFunction } from '../../lib/core/function.ts'
import { sweep } from '../../lib/workflow/sweep.ts'

/** Called on a schedule. */
export const handler = () => runFunction({}, () => sweep())
