import type * as z from 'zod'
import { errorKind } from '../core/error-kind.ts'
import { AppError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import type { Operation } from '../tool/define.ts'

/** What is wrong with one argument, as a model or a person can mend it. */
export type ArgumentProblem = { field: string; message: string }

/**
 * Arguments at most, in bytes of JSON: a document of 1 MiB with all its escapes, and few enough
 * that a call can be shown whole within Lambda's 6 MB.
 */
export const MAX_ARGUMENT_BYTES = 2.5 * 1024 * 1024

/** The arguments as the operation declares them, or VALIDATION_ERROR that lists every problem. */
export const validateArguments = (
  operation: Operation,
  values: Record<string, unknown>,
): Record<string, unknown> => {
  const bytes = Buffer.byteLength(JSON.stringify(values))
  if (bytes > MAX_ARGUMENT_BYTES)
    throw new AppError(
      'VALIDATION_ERROR',
      `The arguments of "${operation.name}" have ${bytes} bytes; at most ${MAX_ARGUMENT_BYTES} fit. Send less in one go.`,
    )
  const parsed = parse(operation, values)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.flatMap(issue => problemsOf(operation, issue))
  throw new AppError(
    'VALIDATION_ERROR',
    `The arguments of "${operation.name}" are not valid. ${problems
      .map(({ field, message }) => `${field}: ${message}.`)
      .join(' ')}`,
    { details: problems },
  )
}

/** A schema may hold a tool's own code: what it throws may repeat arguments, and is told to nobody. */
const parse = (operation: Operation, values: Record<string, unknown>) => {
  try {
    return operation.parameters.safeParse(values)
  } catch (error) {
    log('warn', 'arguments-not-checked', { operation: operation.name, ...errorKind(error) })
    throw new AppError(
      'VALIDATION_ERROR',
      `The arguments of "${operation.name}" can't be checked: the tool's own check of them failed.`,
    )
  }
}

const problemsOf = (operation: Operation, issue: z.core.$ZodIssue): ArgumentProblem[] => {
  if (issue.code !== 'unrecognized_keys')
    return [{ field: issue.path.join('.') || 'arguments', message: plain(issue.message) }]
  const known = Object.keys(operation.parameters.shape)
  const allowed =
    issue.path.length > 0
      ? 'is not declared here'
      : known.length > 0
        ? `is no argument; there are: ${known.join(', ')}`
        : 'is no argument; there are none'
  return issue.keys.map(key => ({ field: [...issue.path, key].join('.'), message: allowed }))
}

const plain = (message: string): string => message.replace(/\.$/, '')
