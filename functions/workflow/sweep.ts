import type { LambdaContext } from 'hono/aws-lambda'
import { runFunction } from '../../lib/core/function.ts'
import { sendDue } from '../../lib/notification/send-due.ts'
import { finishDeletions } from '../../lib/workflow/finish-deletions.ts'
import { sweep } from '../../lib/workflow/sweep.ts'

/**
 * Called on a schedule: looks after what should have moved, has told what was not, and finishes what
 * was deleted.
 */
export const handler = (_event: unknown, context: LambdaContext): Promise<void> =>
  runFunction({ requestId: context.awsRequestId }, async () => {
    const results = await Promise.allSettled([sweep(), sendDue(), finishDeletions()])
    for (const result of results) if (result.status === 'rejected') throw result.reason
  })
