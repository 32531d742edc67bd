import * as z from 'zod'
import { nameCall } from '../call/name-call.ts'
import { getCall } from '../call/tool-call.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { type Id, idOf } from '../core/ids.ts'
import { wake } from './wake.ts'

export const WakeEvent = z.object({ callId: idOf('call') })

/** Has the task of a call look again; for calls outside of tasks, and unknown ones, nothing happens. */
export const wakeTaskOf = async (callId: Id<'call'>, clock: Clock = systemClock): Promise<void> => {
  const call = await getCall(callId)
  if (!call) return
  await nameCall(call)
  if (call.taskId) await wake(call.taskId, clock)
}
