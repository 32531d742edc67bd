import { Agent, agentKey } from '../agent/agent.ts'
import { clip } from '../core/clip.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError, isRefusal, notFound } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { log } from '../core/log.ts'
import { is } from '../data/expression.ts'
import { small } from '../data/large.ts'
import * as table from '../data/table.ts'
import { operationFunction } from '../tool/alias.ts'
import type { Tool } from '../tool/define.ts'
import { Decision, decisionKey, putUpAgain } from './decision.ts'
import { digestOf } from './digest.ts'
import { lose } from './elapse.ts'
import { type Admission, admit, gateKeys } from './gate.ts'
import { nameCall } from './name-call.ts'
import { MAX_REFUSAL_CHARS } from './propose.ts'
import { mayStart, runsOf, startOf } from './receipt.ts'
import { run } from './run.ts'
import { argumentsOf, type CallResult, getCall, moveCall, type ToolCall } from './tool-call.ts'

/**
 * Runs a stored call if it may start: the whole gate again, and where approval is asked for, a
 * decision about exactly this. Whatever it finds, it leaves a record that says so; started twice
 * at once, it runs once.
 */
export const runStored = async (
  tool: Tool,
  callId: Id<'call'>,
  { functionName, clock = systemClock }: { functionName?: string; clock?: Clock } = {},
): Promise<ToolCall> => {
  const call = await getCall(callId)
  if (!call || !isOwn(call, tool, functionName)) throw notFound('tool call', callId)
  await nameCall(call)
  if (!mayStart(call, clock)) return call
  const found = await table.batchGet([
    ...gateKeys(tool.name, call.agentId, call.principalId),
    ...(call.digest ? [decisionKey(call.id, call.digest)] : []),
  ])
  const admission = await admitStored(tool, call, found)
  // Of a call that has run before nobody may say that nothing ran, nor ask whether it may.
  const hasRun = call.startedAt !== undefined
  if (admission instanceof AppError)
    return hasRun ? lose(call, clock) : refuse(call, admission, clock)
  if (admission.requiresApproval || call.requiresApproval) {
    const digest = digestOf(call, admission)
    const decision = found.get(Decision, decisionKey(call.id, digest))
    if (decision?.decision !== 'approve')
      return hasRun ? lose(call, clock) : putUpAgain(call, admission, clock)
  }
  const { claim, ...set } = startOf(admission.operation, clock)
  const started = await moveCall(call, [call.status], 'STARTED', {
    set: { ...set, runs: runsOf(call) + 1 },
    // A run whose time is up may be followed by one more, by one of those who see it.
    where: { startedAt: call.startedAt ?? is.absent },
    claim,
  })
  if (!started.ok) return started.item ?? call
  return run(started.item, admission, clock)
}

/**
 * Whatever id an event brings: a function runs calls of its own operation and no others, since its
 * role is made for that one. Where no function is named, the tool has to do.
 */
const isOwn = (call: ToolCall, tool: Tool, functionName: string | undefined): boolean =>
  call.tool === tool.name &&
  (functionName?.endsWith(operationFunction(call.tool, call.operation)) ?? true)

/** Whether a call may still run for its agent: one that has moved runs by others' settings. */
export const isAgentOf = (agent: Agent | undefined, call: ToolCall): agent is Agent =>
  agent !== undefined && agent.principalId === call.principalId

export const agentGone = (): AppError =>
  new AppError('NOT_FOUND', 'The agent of this call is gone or has moved.')

/** What a deploy since has taken away, no decision can run. */
export const operationGone = ({ tool, operation }: ToolCall): AppError =>
  new AppError(
    'NOT_FOUND',
    `The operation "${operation}" of the tool "${tool}" is no longer part of this installation; nothing ran.`,
  )

/** The gate for a stored call: its admission, or what stood in the way. */
const admitStored = async (
  tool: Tool,
  call: ToolCall,
  found: table.Found,
): Promise<Admission | AppError> => {
  const agent = found.get(Agent, agentKey(call.agentId))
  if (!isAgentOf(agent, call)) return agentGone()
  const values = await argumentsOf(call)
  try {
    return admit({ agent, tool, operation: call.operation, values, found })
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

/** Ends a call that the gate refuses now, before it ever started. */
export const refuse = async (
  call: ToolCall,
  error: AppError,
  clock: Clock = systemClock,
): Promise<ToolCall> => {
  log('info', 'tool-call-refused', { callId: call.id, code: error.code })
  const content = clip(error.message, MAX_REFUSAL_CHARS)
  const result: CallResult = { isError: true, content, code: error.code }
  const outcome = await moveCall(call, [call.status], 'FAILED', {
    set: { result: small(result), endedAt: isoNow(clock) },
  })
  return outcome.item ?? call
}
