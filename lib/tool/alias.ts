import { AppError } from '../core/errors.ts'

/** What every provider accepts in a tool's name, within 64 characters. */
const WIRE_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/

/**
 * A qualified name (`slug:name`) as a provider accepts it: no colon. A tool's own name has no
 * hyphen, so the last one of an alias is the colon, and no two names share an alias.
 */
export const wireName = (qualifiedName: string): string => {
  const alias = qualifiedName.replace(':', '-')
  if (WIRE_PATTERN.test(alias)) return alias
  throw new AppError(
    'INVALID_DEFINITION',
    `Tool "${qualifiedName}": its name is not one that models accept, ${WIRE_PATTERN}.`,
  )
}

/** The name of the function that runs an operation, without the deployment's prefix. */
export const operationFunction = (tool: string, operation: string): string =>
  `tool-${wireName(tool)}-${operation}`
