import { kindOf } from '../core/ids.ts'
import { addLogIds } from '../core/log.ts'
import { trace } from '../trace/tracing.ts'

/** What a task or a call says of whose it is. */
type Subject = { id: string; taskId?: string; agentId?: string; rootId?: string; life?: number }

/**
 * From now on the lines of the log name what a request is about: what its path names, once that was
 * found to be the caller's to ask for, and of a task or a call its agent as well.
 */
export const nameSubject = async (
  subject: unknown,
  params: Record<string, string> = {},
): Promise<void> => {
  for (const id of Object.values(params)) addLogIds(namedBy(id))
  if (!isSubject(subject)) return
  const { id, taskId, agentId, rootId, life } = subject
  addLogIds({ taskId, agentId, ...namedBy(id) })
  await trace(({ nameCall, nameTask }) => {
    if (kindOf(id) === 'call') nameCall({ id, rootId })
    if (kindOf(id) === 'task' && rootId !== undefined) nameTask({ id, rootId, life })
  })
}

/** Not who asks: a line says what a request is about. */
const NAMED = /^(task|call|agent|subscription|delivery)_[0-9A-Z]{26}$/

const namedBy = (id: string): Record<string, string> => {
  const [, kind] = NAMED.exec(id) ?? []
  return kind === undefined ? {} : { [`${kind}Id`]: id }
}

const isSubject = (value: unknown): value is Subject =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
