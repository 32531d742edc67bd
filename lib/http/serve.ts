import type { Tool } from '../tool/define.ts'

/** A Lambda's handler of an operation: HTTP requests on its route, and ids of stored calls. */
export type OperationHandler = (event: unknown, context: unknown) => Promise<unknown>

/**
 * The handler of all of a tool's operations; each is deployed as a Lambda of its own. What runs
 * them is loaded with the first event, so that whoever only wants the declaration (a tick, the
 * list of tools, a deploy) doesn't load it.
 */
export const serve =
  (tool: Tool): OperationHandler =>
  async (event, context) => {
    if (typeof event === 'object' && event !== null && 'callId' in event) {
      const { runById } = await import('./stored-operation.ts')
      return runById(tool, event, context)
    }
    const { runByRequest } = await import('./operation.ts')
    return runByRequest(tool, event, context)
  }
