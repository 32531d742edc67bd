import { invokeFunction } from '../aws/invoke-function.ts'
import type { Id } from '../core/ids.ts'
import { errorFields, log } from '../core/log.ts'
import { operationFunction } from '../tool/alias.ts'
import type { ToolCall } from './tool-call.ts'

/** The function that wakes the task of a call that has ended, after the deployment's prefix. */
export const WAKE_FUNCTION = 'wake'

/**
 * Has an operation's own function run a stored call: awaited, or as an event that runs on its own,
 * as a long one does. It is asked once, and what it answers is not believed: the call's record is
 * what counts.
 */
export const invokeOperation = async (
  call: Pick<ToolCall, 'id' | 'tool' | 'operation' | 'isLong'>,
  how: 'awaited' | 'event' = call.isLong ? 'event' : 'awaited',
): Promise<void> => {
  try {
    const name = operationFunction(call.tool, call.operation)
    const response = await invokeFunction(name, { callId: call.id }, how)
    if (response.FunctionError)
      log('error', 'operation-function-failed', { callId: call.id, kind: response.FunctionError })
  } catch (error) {
    log('error', 'operation-function-unreachable', { callId: call.id, ...errorFields(error) })
  }
}

/**
 * Has the task of a call that nobody awaits look again. An operation may write calls and no tasks,
 * so a function of the platform does it; where that can't be reached, the task looks by itself at
 * the call's deadline.
 */
export const invokeWake = async (callId: Id<'call'>): Promise<void> => {
  try {
    await invokeFunction(WAKE_FUNCTION, { callId }, 'event')
  } catch (error) {
    log('warn', 'wake-left-to-deadline', { callId, ...errorFields(error) })
  }
}
