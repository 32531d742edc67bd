import type { Operation } from '../define.ts'

/** https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations */
export type McpAnnotations = {
  title?: string
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

/**
 * What a client may know of a tool by the effects of the operations that it can run. An effect
 * says what a repeat does, not what is changed or where: of these the protocol's own, cautious
 * defaults are given.
 */
export const mcpAnnotations = (
  operations: readonly Pick<Operation, 'effect'>[],
  title?: string,
): McpAnnotations => {
  const readOnlyHint = operations.every(({ effect }) => effect === 'read')
  return {
    ...(title !== undefined && { title }),
    readOnlyHint,
    destructiveHint: !readOnlyHint,
    idempotentHint: operations.every(({ effect }) => effect !== 'once'),
    openWorldHint: true,
  }
}
