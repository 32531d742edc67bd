import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { small } from '../data/large.ts'
import { lose } from './elapse.ts'
import { moveCall, type ToolCall } from './tool-call.ts'

/** How long a call may fail to start, for the first time or again, before it is given up. */
export const MAX_START_MS = 10 * 60_000

/** Whether the function of a call that may start has been out of reach for too long. */
export const isHopeless = (call: ToolCall, clock: Clock = systemClock): boolean => {
  const { status, deadlineAt = '', decidedAt, createdAt } = call
  const since = status === 'STARTED' ? deadlineAt : (decidedAt ?? createdAt)
  return Date.parse(since) + MAX_START_MS < clock.now().getTime()
}

/** Ends a call that does not start: one that never did has had no effect. */
export const giveUp = async (call: ToolCall, clock: Clock = systemClock): Promise<ToolCall> => {
  if (call.status === 'STARTED') return lose(call, clock)
  const result = { isError: true, content: 'The operation could not be started; nothing ran.' }
  const outcome = await moveCall(call, ['REQUESTED', 'APPROVED'], 'FAILED', {
    set: { endedAt: isoNow(clock), result: small(result) },
  })
  return outcome.item ?? call
}
