import * as z from 'zod'
import { stillWaits } from '../../lib/call/still-waits.ts'
import { runFunction } from '../../lib/core/function.ts'
import { idOf } from '../../lib/core/ids.ts'
import { errorFields, log } from '../../lib/core/log.ts'
import { NOTIFY_BATCH } from '../../lib/notification/announce.ts'
import { deliver } from '../../lib/notification/deliver.ts'

const NotifyEvent = z.object({ deliveryIds: z.array(idOf('delivery')).max(NOTIFY_BATCH) })

/** Delivers side by side: one that fails, or whose receiver is slow, holds up no other. */
export const handler = async (event: unknown): Promise<void> => {
  const { deliveryIds } = NotifyEvent.parse(event)
  await runFunction({}, async () => {
    await Promise.all(
      deliveryIds.map(id =>
        deliver(id, { stillWaits }).catch(error =>
          log('error', 'delivery-failed', { deliveryId: id, ...errorFields(error) }),
        ),
      ),
    )
  })
}
