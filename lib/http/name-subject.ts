import { addLogIds } from '../core/log.ts'
import { trace } from '../trace/tracing.ts'

/** What a route can be about whose ids its lines of the log have. */
type Subject = { id: string; taskId?: string; agentId?: string; rootId?: string; life?: number }

/** From now on the lines of the log name the task, the call or the agent that a request is about. */
export const nameSubject = async (subject: unknown): Promise<void> => {
  if (!isSubject(subject)) return
  const { id, taskId, agentId, rootId, life } = subject
  addLogIds({ taskId, agentId })
  if (id.startsWith('agent_')) addLogIds({ agentId: id })
  if (id.startsWith('call_')) {
    addLogIds({ callId: id })
    await trace(({ nameCall }) => nameCall({ id, rootId }))
  }
  if (id.startsWith('task_')) {
    addLogIds({ taskId: id })
    if (rootId !== undefined) await trace(({ nameTask }) => nameTask({ id, rootId, life }))
  }
}

const isSubject = (value: unknown): value is Subject =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
