import { sweep } from '../../lib/workflow/sweep.ts'

/** Called on a schedule. */
export const handler = () => sweep()
