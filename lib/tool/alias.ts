import { AppError } from '../core/errors.ts'

/** What every provider accepts in a tool's name, within 64 characters. */
const WIRE_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/

/** A qualified name (`slug:name`) as a provider accepts it: no colon. */
export const wireName = (qualifiedName: string): string => {
  const alias = qualifiedName.replace(':', '__')
  if (WIRE_PATTERN.test(alias)) return alias
  throw new AppError(
    'INVALID_DEFINITION',
    `Tool "${qualifiedName}" has no name that models accept.`,
  )
}

/** The name of the function that runs an operation, without the deployment's prefix. */
export const operationFunction = (tool: string, operation: string): string =>
  `tool-${wireName(tool)}-${operation}`
