import { invokeFunction } from '../aws/invoke-function.ts'
import { errorFields, log } from '../core/log.ts'
import type { TransactionWrite } from '../data/transact.ts'
import { Delivery } from './delivery.ts'

/** The function that delivers, after the deployment's prefix. */
export const NOTIFY_FUNCTION = 'notify'
/** Deliveries of one event, which are sent side by side. */
export const NOTIFY_BATCH = 20

/**
 * Has what was just recorded delivered, by a function of its own that nobody waits for. It never
 * throws: what it misses, the sweeper delivers.
 */
export const announce = async (writes: readonly TransactionWrite[]): Promise<void> => {
  const ids = writes.flatMap(dueNow)
  if (ids.length === 0) return
  try {
    await notify(ids)
  } catch (error) {
    log('warn', 'notices-left-to-sweeper', { deliveries: ids.length, ...errorFields(error) })
  }
}

/** Hands deliveries to the function that delivers; throws where it can't be reached. */
export const notify = async (ids: string[]): Promise<void> => {
  for (let start = 0; start < ids.length; start += NOTIFY_BATCH)
    await invokeFunction(
      NOTIFY_FUNCTION,
      { deliveryIds: ids.slice(start, start + NOTIFY_BATCH) },
      'event',
    )
}

const dueNow = (write: TransactionWrite): string[] => {
  if (!('insert' in write)) return []
  const { data: delivery } = Delivery.safeParse(write.insert)
  return delivery && delivery.nextAt <= delivery.createdAt ? [delivery.id] : []
}
