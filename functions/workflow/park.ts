import type { LambdaContext } from 'hono/aws-lambda'
import { runFunction } from '../../lib/core/function.ts'
import { ParkEvent, park } from '../../lib/workflow/park.ts'

export const handler = async (event: unknown, context: LambdaContext): Promise<void> => {
  const parked = ParkEvent.parse(event)
  const { taskId, generation } = parked
  const ids = { requestId: context.awsRequestId, taskId, generation }
  await runFunction(ids, () => park(parked))
}
