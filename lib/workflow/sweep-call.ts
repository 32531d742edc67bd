import { elapse } from '../call/elapse.ts'
import { giveUp, isHopeless } from '../call/give-up.ts'
import { invokeOperation } from '../call/invoke.ts'
import { nameCall } from '../call/name-call.ts'
import { mayStart } from '../call/receipt.ts'
import { callKey, getCall, ToolCall } from '../call/tool-call.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import * as table from '../data/table.ts'

/**
 * Looks after a call outside of tasks, which no tick does: the event that had it run was lost, or
 * its function died. `abandoned` says that every process from before is dead: however long ago that
 * was, nobody has tried since.
 */
export const lookAfterCall = async (
  id: Id<'call'>,
  abandoned: boolean,
  clock: Clock = systemClock,
): Promise<void> => {
  const seen = await getCall(id)
  if (!seen) return
  await nameCall(seen)
  const call = await elapse(abandoned ? await endRun(seen, clock) : seen, clock)
  if (!mayStart(call, clock)) return
  if (!abandoned && isHopeless(call, clock)) await giveUp(call, clock)
  else await invokeOperation(call, 'event')
}

/** A call that a dead process had started is over now, whatever its deadline says. */
export const endRun = async (call: ToolCall, clock: Clock = systemClock): Promise<ToolCall> => {
  if (call.status !== 'STARTED') return call
  const outcome = await table.update(
    ToolCall,
    callKey(call.id),
    { set: { deadlineAt: isoNow(clock) } },
    { where: { status: 'STARTED', claim: call.claim } },
  )
  return outcome.item ?? call
}
