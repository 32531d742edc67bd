import * as z from 'zod'
import { resultOf } from '../call/receipt.ts'
import type { ToolCall } from '../call/tool-call.ts'
import { loadLarge } from '../data/large.ts'

/** A tool call on the wire, as people see it: with the data that no model gets. */
export const presentCall = async (call: ToolCall) => {
  const result = await resultOf(call)
  return {
    id: call.id,
    status: call.status,
    task_id: call.taskId ?? null,
    root_task_id: call.rootId ?? null,
    agent_id: call.agentId,
    tool: call.tool,
    operation: call.operation,
    description: call.description,
    arguments: await loadLarge(z.record(z.string(), z.unknown()), call.arguments),
    requires_approval: call.requiresApproval,
    digest: call.digest ?? null,
    approval_expires_at: call.approvalExpiresAt ?? null,
    decided_at: call.decidedAt ?? null,
    decided_by: call.decidedBy ?? null,
    created_at: call.createdAt,
    started_at: call.startedAt ?? null,
    ended_at: call.endedAt ?? null,
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
