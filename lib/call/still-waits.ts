import { type Clock, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import { hasExpired } from './decision.ts'
import { getCall } from './tool-call.ts'

/** Whether a call still waits for a decision, and about the same form of it. */
export const stillWaits = async (
  { callId, digest }: { callId: Id<'call'>; digest: string },
  clock: Clock = systemClock,
): Promise<boolean> => {
  const call = await getCall(callId)
  return call?.status === 'PENDING_APPROVAL' && call.digest === digest && !hasExpired(call, clock)
}
