import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { errorFields, log } from '../core/log.ts'
import { DUE_SHARDS, listDue, postpone } from '../data/due.ts'
import { NOTIFY_BATCH, notify } from './announce.ts'

/** How many times a sweep hands on a batch of each shard; the next one goes on. */
export const MAX_BATCHES = 10
/** When a delivery that was handed on is handed on again, where nobody has begun to send it. */
export const HANDED_ON_AGAIN_MS = 5 * 60_000

/**
 * Has what is due delivered: what nobody announced, what is to be tried again, what is told before
 * something expires. It sends nothing itself, so that no slow receiver keeps the sweeper, and hands on
 * many more than one receiver's backlog.
 */
export const sendDue = async (clock: Clock = systemClock): Promise<{ handedOn: number }> => {
  const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => sendShard(shard, clock))
  return { handedOn: (await Promise.all(shards)).reduce((sum, count) => sum + count, 0) }
}

const sendShard = async (shard: number, clock: Clock): Promise<number> => {
  let handedOn = 0
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const due = await listDue(shard, isoNow(clock), NOTIFY_BATCH, 'unsent')
    if (due.length === 0) break
    await notify(due.map(({ pk }) => pk))
    handedOn += due.length
    // One that can't be sent must not keep the others waiting.
    for (const each of due)
      await postpone(each, isoIn(HANDED_ON_AGAIN_MS, clock)).catch(error =>
        log('error', 'delivery-not-postponed', { id: each.pk, ...errorFields(error) }),
      )
    if (due.length < NOTIFY_BATCH) break
  }
  return handedOn
}
