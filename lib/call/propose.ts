import { clip } from '../core/clip.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { small, storeLarge } from '../data/large.ts'
import { isLong } from '../tool/options.ts'
import { approvalExpiry } from './decision.ts'
import { descriptionOf } from './description.ts'
import { digestOf } from './digest.ts'
import type { Admission } from './gate.ts'
import type { CallResult, ToolCall } from './tool-call.ts'

/** Where a call comes from: its id, its place in a task, and what its maker says of it. */
export type Origin = Pick<ToolCall, 'id' | 'meta'> &
  Partial<Pick<ToolCall, 'taskId' | 'rootId' | 'seq' | 'index' | 'requestHash' | 'startedBy'>>

/**
 * The record of a call that passed the gate: it waits for approval where that is asked for, and
 * is ready to run otherwise. Nothing is stored yet but arguments too long for the record.
 */
export const proposeCall = async (
  origin: Origin,
  admission: Admission,
  clock: Clock = systemClock,
): Promise<ToolCall> => {
  const { agent, tool, operation, parameters, requiresApproval } = admission
  return {
    ...origin,
    status: requiresApproval ? 'PENDING_APPROVAL' : 'REQUESTED',
    agentId: agent.id,
    principalId: agent.principalId,
    tool: tool.name,
    operation: operation.name,
    effect: operation.effect,
    arguments: await storeLarge(origin.id, parameters),
    description: descriptionOf(admission),
    requiresApproval,
    ...(isLong(operation) ? { isLong: true as const } : {}),
    ...(requiresApproval
      ? { digest: digestOf(origin, admission), approvalExpiresAt: approvalExpiry(clock) }
      : {}),
    createdAt: isoNow(clock),
  }
}

/** A refusal's text and the names that a model made up, in characters: they stay in the record. */
export const MAX_REFUSAL_CHARS = 10_000
const MAX_ASKED_NAME_CHARS = 200

/** The record of a call that was answered without running an operation. */
export const answeredCall = (
  origin: Origin,
  asked: Pick<ToolCall, 'agentId' | 'principalId' | 'tool' | 'operation'>,
  {
    arguments: values,
    result,
    ...answered
  }: Pick<ToolCall, 'status' | 'description'> & {
    arguments: Record<string, unknown>
    result: CallResult
  },
  clock: Clock = systemClock,
): ToolCall => ({
  ...origin,
  ...asked,
  ...answered,
  tool: clip(asked.tool, MAX_ASKED_NAME_CHARS),
  operation: clip(asked.operation, MAX_ASKED_NAME_CHARS),
  effect: 'read',
  arguments: small(values),
  requiresApproval: false,
  createdAt: isoNow(clock),
  endedAt: isoNow(clock),
  result: small(result),
})

/** The record of a call that was refused before it could run: the model reads why. */
export const refusedCall = (
  origin: Origin,
  asked: Pick<ToolCall, 'agentId' | 'principalId' | 'tool' | 'operation'>,
  refusal: Pick<CallResult, 'content' | 'code'>,
  clock: Clock = systemClock,
): ToolCall => {
  const content = clip(refusal.content, MAX_REFUSAL_CHARS)
  const refused = {
    status: 'FAILED' as const,
    description: 'Refused before it ran.',
    arguments: {},
  }
  return answeredCall(
    origin,
    asked,
    { ...refused, result: { isError: true, ...refusal, content } },
    clock,
  )
}
