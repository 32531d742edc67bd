import type { LambdaContext } from 'hono/aws-lambda'
import { runFunction } from '../../lib/core/function.ts'
import type { TickOutcome } from '../../lib/workflow/outcome.ts'
import { TickEvent, tick } from '../../lib/workflow/tick.ts'
import { tools } from '../tools/index.ts'

export const handler = async (event: unknown, context: LambdaContext): Promise<TickOutcome> => {
  const { taskId, generation } = TickEvent.parse(event)
  return runFunction({ requestId: context.awsRequestId, taskId, generation }, () =>
    tick({ taskId, generation }, { tools, remainingMs: () => context.getRemainingTimeInMillis() }),
  )
}
