import { errorKind } from '../core/error-kind.ts'
import { AppError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { invalid, problemsOf } from '../core/problems.ts'
import { MAX_DEPTH } from '../core/well-formed.ts'
import type { Operation } from '../tool/define.ts'
import { unfold } from './unfold.ts'

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
  const parsed = parseUnfolded(operation, values)
  if (parsed.success) return parsed.data
  throw invalid(
    `The arguments of "${operation.name}" are not valid.`,
    problemsOf(parsed.error.issues, {
      root: 'arguments',
      undeclared: (path, key) => undeclared(operation, path, key),
    }),
  )
}

/**
 * Models write an object within the arguments as a text of JSON every so often: where the schema
 * wants an object or a list and nothing else, such a text is read as one. Level by level, since
 * there may be more texts within.
 */
const parseUnfolded = (operation: Operation, values: Record<string, unknown>) => {
  let parsed = parse(operation, values)
  for (let current = values, level = 0; !parsed.success && level < MAX_DEPTH; level++) {
    const unfolded = unfold(current, parsed.error.issues)
    if (unfolded === current) return parsed
    current = unfolded
    parsed = parse(operation, current)
  }
  return parsed
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

const undeclared = (operation: Operation, path: PropertyKey[], key: string): string => {
  const known = Object.keys(operation.parameters.shape)
  if (path.length > 0) return 'is not declared here.'
  const misplaced = Object.hasOwn(operation.misplaced, key) && operation.misplaced[key]
  if (misplaced) return misplaced
  return known.length > 0
    ? `is no argument; there are: ${known.join(', ')}.`
    : 'is no argument; there are none.'
}
