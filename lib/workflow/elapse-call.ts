import { elapse } from '../call/elapse.ts'
import type { ToolCall } from '../call/tool-call.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { wake } from './wake.ts'

/**
 * A call as the passing of time has left it, for whoever looks at one: outside of tasks only
 * the sweeper would notice that it has ended, and later. A task that waits for it goes on.
 */
export const elapseCall = async (call: ToolCall, clock: Clock = systemClock): Promise<ToolCall> => {
  const current = await elapse(call, clock)
  if (current !== call && call.taskId) await wake(call.taskId, clock)
  return current
}
