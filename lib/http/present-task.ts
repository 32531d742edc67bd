import * as z from 'zod'
import { bytesOf } from '../data/large.ts'
import { finalText, type Task, TaskStatus } from '../task/task.ts'
import { ToolCallView } from './present-call.ts'
import { OwnUsageView, UsageView } from './present-usage.ts'
import { createRoom, type Room } from './room.ts'
import { AgentId, PrincipalId, TaskId, Time } from './wire.ts'

export const TaskView = z
  .object({
    id: TaskId,
    agent_id: AgentId,
    principal_id: PrincipalId,
    status: TaskStatus.meta({ id: 'TaskStatus' }),
    root_task_id: TaskId.describe('The top of the tree that the task is in; itself, at the top.'),
    parent_task_id: TaskId.nullable(),
    max_steps: z.int(),
    final_response: z.string().nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    handover: z
      .object({
        target_task_id: TaskId,
        target_agent_id: AgentId.nullable(),
        target_agent_name: z.string().nullable(),
      })
      .nullable()
      .describe('The task that goes on in this one’s place.'),
    waits_for_slot_since: Time.nullable().describe(
      'Since when it is QUEUED because as many sub-agents run as may; null where it isn’t.',
    ),
    created_at: Time,
    updated_at: Time,
    ended_at: Time.nullable(),
    truncated: z
      .boolean()
      .describe('There was no room for the final response: read the task by itself.'),
  })
  .meta({ id: 'Task' })
export type TaskView = z.infer<typeof TaskView>

export const TaskWithCalls = TaskView.extend({
  tool_call_count: z.int(),
  tool_calls: z.array(ToolCallView).describe('The latest ones; the history has them all.'),
  spawned_sub_task_ids: z
    .array(TaskId)
    .describe('The tasks that its calls have started, in the order of the calls.'),
  usage: UsageView,
  own_usage: OwnUsageView,
}).meta({ id: 'TaskWithCalls' })

/** Tasks on the wire, in order: with their final responses while there is room. */
export const presentTasks = async (tasks: Task[], room: Room = createRoom()) => {
  const presented: TaskView[] = []
  for (const task of tasks) presented.push(await presentTask(task, room))
  return presented
}

/** A task on the wire; `truncated` says that its final response had no room. */
export const presentTask = async (task: Task, room: Room = createRoom()): Promise<TaskView> => {
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
    handover: task.handoverTo
      ? {
          target_task_id: task.handoverTo,
          target_agent_id: task.handoverAgent?.id ?? null,
          target_agent_name: task.handoverAgent?.name ?? null,
        }
      : null,
    waits_for_slot_since: task.status === 'QUEUED' ? (task.slotAskedAt ?? null) : null,
    created_at: task.createdAt,
    updated_at: task.updatedAt,
    ended_at: task.endedAt ?? null,
    truncated: !fits,
  }
}
