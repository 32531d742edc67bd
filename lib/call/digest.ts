import { createHash } from 'node:crypto'
import { canonicalJson } from '../core/canonical-json.ts'
import { operationSchema } from '../tool/schema.ts'
import type { Admission } from './gate.ts'
import type { ToolCall } from './tool-call.ts'

/**
 * What an approval is bound to: this call, by this agent of this principal, of this operation as
 * it is declared now, with exactly these arguments, under exactly these settings.
 */
export const digestOf = (
  call: Pick<ToolCall, 'id' | 'meta'>,
  { agent, tool, operation, parameters, settings }: Admission,
): string =>
  sha256({
    call: call.id,
    agent: agent.id,
    principal: agent.principalId,
    tool: tool.name,
    operation: operation.name,
    parameters,
    meta: call.meta,
    declaration: sha256({
      description: operation.description,
      effect: operation.effect,
      schema: operationSchema(operation),
    }),
    settings: settings.fingerprint,
  })

/** The SHA-256 of a value's canonical JSON, in hex. */
export const sha256 = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex')
