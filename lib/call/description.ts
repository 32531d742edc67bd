import { clip } from '../core/clip.ts'
import { errorKind } from '../core/error-kind.ts'
import { log } from '../core/log.ts'
import type { Admission } from './gate.ts'

/**
 * A description's length in a record, in characters: a person reads it at a glance, and the
 * arguments stand beside it whole. An item holds 400 KB.
 */
export const MAX_DESCRIPTION_CHARS = 2_000

/** One sentence for the person who approves, from the arguments and never from settings. */
export const descriptionOf = ({
  tool,
  operation,
  parameters,
}: Pick<Admission, 'tool' | 'operation' | 'parameters'>): string => {
  try {
    return clip(operation.describe(parameters).toWellFormed(), MAX_DESCRIPTION_CHARS)
  } catch (error) {
    // A tool that can't describe a call must not keep its task from going on.
    const where = { tool: tool.name, operation: operation.name }
    log('warn', 'description-failed', { ...where, ...errorKind(error) })
    return `Run ${tool.name} ${operation.name}`
  }
}
