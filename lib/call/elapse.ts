import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { small } from '../data/large.ts'
import { outboxWrites } from '../notification/outbox.ts'
import { expire, hasExpired } from './decision.ts'
import { closeQuestion, isUnanswered, UNANSWERED } from './question.ts'
import { isOverdue, mayRunAgain } from './receipt.ts'
import { moveCall, type ToolCall } from './tool-call.ts'

/**
 * A call as the passing of time has left it: what nobody decided in time has expired, what nobody
 * answered is closed, and of a run that died nobody knows what came. Without a change, the call as it was given.
 */
export const elapse = async (call: ToolCall, clock: Clock = systemClock): Promise<ToolCall> => {
  if (call.status === 'PENDING_APPROVAL' && hasExpired(call, clock))
    return (await expire(call, clock)).item ?? call
  if (isUnanswered(call, clock)) return closeQuestion(call, UNANSWERED)
  if (isOverdue(call, clock) && !mayRunAgain(call, clock)) return lose(call, clock)
  return call
}

/** Gives a run up. What only reads has failed, and that is all; of the rest a person has to say. */
export const lose = async (call: ToolCall, clock: Clock = systemClock): Promise<ToolCall> => {
  const where = { claim: call.claim }
  const outcome =
    call.effect === 'read'
      ? await moveCall(call, ['STARTED'], 'FAILED', {
          set: { endedAt: isoNow(clock), result: small(DIED) },
          where,
        })
      : await moveCall(call, ['STARTED'], 'UNKNOWN', {
          where,
          notices: await outboxWrites(
            { type: 'call.waiting', call: { ...call, status: 'UNKNOWN' } },
            clock,
          ),
        })
  return outcome.item ?? call
}

const DIED = { isError: true, content: 'The operation was started and never came to an end.' }
