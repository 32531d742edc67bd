import { bytesOf } from '../data/large.ts'
import { finalText, type Task } from '../task/task.ts'
import { createRoom, type Room } from './room.ts'

/** Tasks on the wire, in order: with their final responses while there is room. */
export const presentTasks = async (tasks: Task[], room: Room = createRoom()) => {
  const presented = []
  for (const task of tasks) presented.push(await presentTask(task, room))
  return presented
}

/** A task on the wire; `truncated` says that its final response had no room. */
export const presentTask = async (task: Task, room: Room = createRoom()) => {
  const fits = task.finalResponse === undefined || room.take(bytesOf(task.finalResponse))
  return {
    id: task.id,
    agent_id: task.agentId,
    principal_id: task.principalId,
    status: task.status,
    root_task_id: task.rootId,
    parent_task_id: task.parentId ?? null,
    max_steps: task.maxSteps,
    final_response: task.finalResponse && fits ? await finalText(task) : null,
    error: task.error ?? null,
    handover: task.handoverTo ? { target_task_id: task.handoverTo } : null,
    created_at: task.createdAt,
    updated_at: task.updatedAt,
    ended_at: task.endedAt ?? null,
    truncated: !fits,
  }
}
