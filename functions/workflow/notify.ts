import type { LambdaContext } from 'hono/aws-lambda'
import * as z from 'zod'
import { stillWaits } from '../../lib/call/still-waits.ts'
import { runFunction } from '../../lib/core/function.ts'
import { idOf } from '../../lib/core/ids.ts'
import { errorFields, log, withLogIds } from '../../lib/core/log.ts'
import { NOTIFY_BATCH } from '../../lib/notification/announce.ts'
import { deliver } from '../../lib/notification/deliver.ts'

const NotifyEvent = z.object({ deliveryIds: z.array(idOf('delivery')).max(NOTIFY_BATCH) })

/** Delivers side by side: one that fails, or whose receiver is slow, holds up no other. */
export const handler = async (event: unknown, context: LambdaContext): Promise<void> => {
  const { deliveryIds } = NotifyEvent.parse(event)
  await runFunction({ requestId: context.awsRequestId }, async () => {
    await Promise.all(
      deliveryIds.map(deliveryId =>
        withLogIds({ deliveryId }, () =>
          deliver(deliveryId, { stillWaits }).catch(error =>
            log('error', 'delivery-failed', errorFields(error)),
          ),
        ),
      ),
    )
  })
}
