import { type Clock, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import { hasExpired } from './decision.ts'
import { isAsking, isUnanswered } from './question.ts'
import { getCall } from './tool-call.ts'

/** Whether a call still waits for a decision about the same form of it, or for an answer. */
export const stillWaits = async (
  { callId, digest }: { callId: Id<'call'>; digest?: string | undefined },
  clock: Clock = systemClock,
): Promise<boolean> => {
  const call = await getCall(callId)
  if (!call) return false
  if (digest === undefined) return isAsking(call) && !isUnanswered(call, clock)
  return call.status === 'PENDING_APPROVAL' && call.digest === digest && !hasExpired(call, clock)
}
