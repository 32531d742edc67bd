import type { CallContext, Tool } from '../../../lib/tool/define.ts'
import { type Fetch, guardedFetch } from '../../../lib/web/guarded-fetch.ts'
import { clockAt } from '../../local-table.ts'

/** Runs an operation as a call would, its arguments parsed by its schema first. */
export const run = async (
  tool: Tool,
  name: string,
  input: Record<string, unknown>,
  {
    settings = {},
    now = '2026-10-24T12:34:56.789Z',
    fetch = guardedFetch(),
  }: {
    settings?: Record<string, unknown>
    now?: string
    fetch?: Fetch
  } = {},
): Promise<unknown> => {
  const operation = tool.operations[name]
  if (!operation) throw new Error(`no operation ${name}`)
  const context: CallContext = {
    parameters: operation.parameters.parse(input),
    settings,
    call: {
      id: 'call_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      tool: tool.name,
      operation: name,
      effect: operation.effect,
    },
    agent: { id: 'agent_01ARZ3NDEKTSV4RRFFQ69G5FAV', name: 'Gardener' },
    principal: { id: 'user_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
    meta: {},
    fetch,
    clock: clockAt(now),
    signal: new AbortController().signal,
    idempotencyKey: 'key',
  }
  return operation.execute(context)
}
