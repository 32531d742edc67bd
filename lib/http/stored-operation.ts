import type { LambdaContext } from 'hono/aws-lambda'
import * as z from 'zod'
import { runStored } from '../call/stored.ts'
import { runFunction } from '../core/function.ts'
import { idOf } from '../core/ids.ts'
import type { Tool } from '../tool/define.ts'

/** The event of a tick, or of a decision outside of tasks: the id of a stored call. */
const StoredCall = z.strictObject({ callId: idOf('call') })

/** Runs a stored call by its id: no request of HTTP's is needed for it, or loaded. */
export const runById = async (tool: Tool, event: unknown, context: unknown): Promise<unknown> => {
  const { callId } = StoredCall.parse(event)
  const { functionName, awsRequestId: requestId } = context as LambdaContext
  const call = await runFunction({ requestId, callId }, async () => {
    const ran = await runStored(tool, callId, { functionName })
    if (ran.isLong && ran.taskId) await wakeFor(callId)
    return ran
  })
  return { callId, status: call.status }
}

/** Only operations that run for long wake anyone. */
const wakeFor = async (callId: z.infer<typeof StoredCall>['callId']): Promise<void> => {
  const { invokeWake } = await import('../call/invoke.ts')
  await invokeWake(callId)
}
