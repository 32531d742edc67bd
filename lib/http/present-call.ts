import { resultOf } from '../call/receipt.ts'
import { argumentsOf, type ToolCall } from '../call/tool-call.ts'
import { bytesOf } from '../data/large.ts'
import { createRoom, type Room } from './room.ts'

/** Calls on the wire, in order: whole while there is room, and then without what is long. */
export const presentCalls = async (calls: ToolCall[], room: Room = createRoom()) => {
  const presented = []
  for (const call of calls) presented.push(await presentCall(call, room))
  return presented
}

/**
 * A tool call on the wire, as people see it: with the data that no model gets. Where there is no
 * room for them its arguments and result are null, and `truncated` says so.
 */
export const presentCall = async (call: ToolCall, room: Room = createRoom()) => {
  const fits = room.take(bytesOf(call.arguments) + (call.result ? bytesOf(call.result) : 0))
  const result = fits ? await resultOf(call) : undefined
  return {
    id: call.id,
    status: call.status,
    task_id: call.taskId ?? null,
    root_task_id: call.rootId ?? null,
    agent_id: call.agentId,
    tool: call.tool,
    operation: call.operation,
    description: call.description,
    arguments: fits ? await argumentsOf(call) : null,
    requires_approval: call.requiresApproval,
    digest: call.digest ?? null,
    approval_expires_at: call.approvalExpiresAt ?? null,
    decided_at: call.decidedAt ?? null,
    decided_by: call.decidedBy ?? null,
    created_at: call.createdAt,
    started_at: call.startedAt ?? null,
    ended_at: call.endedAt ?? null,
    truncated: !fits,
    result: result
      ? {
          is_error: result.isError,
          code: result.code ?? null,
          content: result.content,
          data: result.data ?? null,
          media: result.media ?? [],
        }
      : null,
  }
}
