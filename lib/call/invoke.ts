import { InvokeCommand } from '@aws-sdk/client-lambda'
import { lambda } from '../aws/lambda.ts'
import { config } from '../core/config.ts'
import type { Id } from '../core/ids.ts'
import { errorFields, log } from '../core/log.ts'
import { operationFunction } from '../tool/alias.ts'

/**
 * Has an operation's own function run a stored call: awaited, or as an event that runs on its
 * own. It is asked once, and what it answers is not believed: the call's record is what counts.
 */
export const invokeOperation = async (
  call: { id: Id<'call'>; tool: string; operation: string },
  how: 'awaited' | 'event' = 'awaited',
): Promise<void> => {
  try {
    const response = await lambda().send(
      new InvokeCommand({
        FunctionName: `${config('functionPrefix')}${operationFunction(call.tool, call.operation)}`,
        InvocationType: how === 'event' ? 'Event' : 'RequestResponse',
        Payload: JSON.stringify({ callId: call.id }),
      }),
    )
    if (response.FunctionError)
      log('error', 'operation-function-failed', { callId: call.id, kind: response.FunctionError })
  } catch (error) {
    log('error', 'operation-function-unreachable', { callId: call.id, ...errorFields(error) })
  }
}
