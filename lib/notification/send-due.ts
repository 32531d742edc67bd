import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { errorFields, log } from '../core/log.ts'
import { DUE_SHARDS, listDue, postpone } from '../data/due.ts'
import { notify } from './announce.ts'

/** Deliveries of each shard that one sweep hands on; the next one goes on. */
export const SEND_LIMIT = 25
/** When a delivery that was handed on is handed on again, where nobody has begun to send it. */
const AGAIN_MS = 5 * 60_000

/**
 * Has what is due delivered: what nobody announced, what is to be tried again, what is told before
 * something expires. It sends nothing itself, so that no slow receiver keeps the sweeper.
 */
export const sendDue = async (clock: Clock = systemClock): Promise<{ handedOn: number }> => {
  let handedOn = 0
  for (let shard = 0; shard < DUE_SHARDS; shard++) {
    const due = await listDue(shard, isoNow(clock), SEND_LIMIT, 'unsent')
    if (due.length === 0) continue
    await notify(due.map(({ pk }) => pk))
    handedOn += due.length
    // One that can't be sent must not keep the others waiting.
    for (const each of due)
      await postpone(each, isoIn(AGAIN_MS, clock)).catch(error =>
        log('error', 'delivery-not-postponed', { id: each.pk, ...errorFields(error) }),
      )
  }
  return { handedOn }
}
