import type { Id } from '../core/ids.ts'
import type { PrincipalId } from '../principal/principal.ts'
import type { NoticeEvent } from './event.ts'

/** What of a call there is to tell; a stored call is one. Its arguments and results are not read. */
export type NoticedCall = {
  id: Id<'call'>
  principalId: PrincipalId
  agentId: Id<'agent'>
  tool: string
  operation: string
  description: string
  status: string
  digest?: string | undefined
  taskId?: Id<'task'> | undefined
  rootId?: Id<'task'> | undefined
  approvalExpiresAt?: string | undefined
  /** Of what it asks only until when it waits for an answer, and whether it has one. */
  question?: { until: string } | undefined
  answer?: unknown
}

/** What of a task there is to tell, its status the one that it moves to; a stored task is one. */
export type NoticedTask = {
  id: Id<'task'>
  principalId: PrincipalId
  agentId: Id<'agent'>
  rootId: Id<'task'>
  parentId?: Id<'task'> | undefined
  generation: number
  status: string
  error?: { code: string } | undefined
  handoverTo?: Id<'task'> | undefined
}

/** Something that happens, as whoever writes it down tells it. */
export type Notice =
  | { type: 'call.waiting'; call: NoticedCall; agentName?: string }
  | { type: 'task.ended'; task: NoticedTask }

/** What a call waits for, in the word of the route that gives it; undefined where it waits for nobody. */
export const awaited = ({ status, question, answer }: NoticedCall) => {
  if (status === 'PENDING_APPROVAL') return 'decision'
  if (status === 'UNKNOWN') return 'settlement'
  return question && !answer ? 'answer' : undefined
}

/** Until when a call waits for a decision or an answer; a settlement has time. */
export const waitsUntil = (call: NoticedCall): string | undefined => {
  const what = awaited(call)
  if (what === 'decision') return call.approvalExpiresAt
  return what === 'answer' ? call.question?.until : undefined
}

/**
 * Whether a notice is for people: a call that waits on one, the end of what somebody asked for. What
 * a sub-agent came to, its parent is told.
 */
export const isForPeople = (notice: Notice): boolean => {
  switch (notice.type) {
    case 'call.waiting':
      return awaited(notice.call) !== undefined
    case 'task.ended':
      return notice.task.parentId === undefined
    default:
      return notice satisfies never
  }
}

export const principalOf = (notice: Notice): PrincipalId =>
  'call' in notice ? notice.call.principalId : notice.task.principalId

/** What stands for what is told: told again, it is the same. */
export const partsOf = (notice: Notice): (string | number)[] => {
  switch (notice.type) {
    case 'call.waiting':
      return [notice.call.id, notice.call.status, waitsUntil(notice.call) ?? '']
    case 'task.ended':
      return [notice.task.id, notice.task.generation]
    default:
      return notice satisfies never
  }
}

/**
 * What is sent: ids, names, states and times. No arguments, results, prompts or settings: what a
 * person decides by is read where it is decided.
 */
export const bodyOf = (notice: Notice, event: NoticeEvent, timestamp: string): string =>
  JSON.stringify({ type: event, timestamp, data: dataOf(notice) })

const dataOf = (notice: Notice): Record<string, unknown> => {
  if (notice.type === 'call.waiting') {
    const { call } = notice
    return {
      call_id: call.id,
      status: call.status,
      waits_for: awaited(call) ?? null,
      tool: call.tool,
      operation: call.operation,
      description: call.description,
      agent_id: call.agentId,
      agent_name: notice.agentName ?? null,
      principal_id: call.principalId,
      task_id: call.taskId ?? null,
      root_task_id: call.rootId ?? null,
      expires_at: waitsUntil(call) ?? null,
      path: `/api/v1/tool-calls/${call.id}`,
    }
  }
  const { task } = notice
  return {
    task_id: task.id,
    status: task.status,
    agent_id: task.agentId,
    principal_id: task.principalId,
    root_task_id: task.rootId,
    parent_task_id: task.parentId ?? null,
    error_code: task.error?.code ?? null,
    handed_over_to: task.handoverTo ?? null,
    path: `/api/v1/tasks/${task.id}`,
  }
}
