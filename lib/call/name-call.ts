import { addLogIds } from '../core/log.ts'
import { trace } from '../trace/tracing.ts'
import type { ToolCall } from './tool-call.ts'

/** From now on the lines of the log name the call, its agent and its task. */
export const nameCall = async (call: ToolCall): Promise<void> => {
  addLogIds({ callId: call.id, taskId: call.taskId, agentId: call.agentId })
  await trace(tracing => tracing.nameCall(call))
}
