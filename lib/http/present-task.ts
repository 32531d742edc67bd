import { finalText, type Task } from '../task/task.ts'

/** A task on the wire. */
export const presentTask = async (task: Task) => ({
  id: task.id,
  agent_id: task.agentId,
  principal_id: task.principalId,
  status: task.status,
  root_task_id: task.rootId,
  parent_task_id: task.parentId ?? null,
  max_steps: task.maxSteps,
  final_response: task.finalResponse ? await finalText(task) : null,
  error: task.error ?? null,
  handover: task.handoverTo ? { target_task_id: task.handoverTo } : null,
  created_at: task.createdAt,
  updated_at: task.updatedAt,
  ended_at: task.endedAt ?? null,
})
