import { dataOf } from '../../functions/client.ts'
import type { HistoryRow, TaskView } from './client.ts'
import type { Outcome, Stage } from './stage.ts'
import type { Actor, Timeline } from './timeline.ts'

/** Tells what is new in the two tasks since it last looked. */
export const createWatch = (
  { client: { api }, timeline }: Stage,
  agents: { planner: string; writer: string },
) => {
  const seen = new Map<string, { status?: string; rows: number }>()
  const lookAt = async (taskId: string): Promise<TaskView> => {
    const param = { id: taskId }
    const task = await dataOf(api.tasks[':id'].$get({ param }))
    const before = seen.get(taskId) ?? { rows: 0 }
    const actor: Actor = task.agent_id === agents.planner ? 'planner' : 'writer'
    const history = await dataOf(api.tasks[':id'].history.$get({ param }))
    if (actor === 'writer' && before.status === undefined) timeline.chapter('4. The writer works')
    if (before.status === 'AWAITING_SUB_AGENTS' && task.status !== before.status)
      timeline.chapter('5. The planner goes on')
    for (const row of history.slice(before.rows)) tellRow(timeline, actor, row, taskId)
    if (task.status !== before.status)
      timeline.tell(actor, 'task-moved', `is ${task.status}`, {
        task_id: taskId,
        status: task.status,
      })
    seen.set(taskId, { status: task.status, rows: history.length })
    return task
  }
  return {
    look: async (rootId: string): Promise<Outcome> => {
      // The child first: it ends before its parent goes on.
      const root = await dataOf(api.tasks[':id'].$get({ param: { id: rootId } }))
      const spawned = root.tool_calls.find(call => call.tool === 'sub_agent')?.result?.data as
        | { spawned_sub_task_ids?: string[] }
        | undefined
      const childId = spawned?.spawned_sub_task_ids?.[0]
      const child = childId ? await lookAt(childId) : undefined
      return { root: await lookAt(rootId), child }
    },
  }
}

const tellRow = (timeline: Timeline, actor: Actor, row: HistoryRow, taskId: string) => {
  const fields = { task_id: taskId }
  if (row.role === 'user') return
  if (row.role === 'tool')
    return timeline.tell(actor, 'tool-answered', `${row.tool} answers: ${row.text}`, fields)
  for (const call of row.tool_calls ?? [])
    timeline.tell(actor, 'tool-called', `calls ${call.tool} ${call.arguments}`, fields)
  if (row.text) timeline.tell(actor, 'model-answered', row.text, fields)
}
