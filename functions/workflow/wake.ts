import type { LambdaContext } from 'hono/aws-lambda'
import { runFunction } from '../../lib/core/function.ts'
import { WakeEvent, wakeTaskOf } from '../../lib/workflow/wake-task-of.ts'

export const handler = async (event: unknown, context: LambdaContext): Promise<void> => {
  const { callId } = WakeEvent.parse(event)
  await runFunction({ requestId: context.awsRequestId, callId }, () => wakeTaskOf(callId))
}
