import { type Author, auditWrite } from '../audit/audit.ts'
import { isoIn, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { is } from '../data/expression.ts'
import { transact } from '../data/transact.ts'
import {
  deletionIndex,
  findTaskRemains,
  type Part,
  partKey,
  remainsKey,
  type TaskRemains,
} from '../task/remains.ts'
import { getTask, lastInLine, type Task, TERMINAL, taskKey } from '../task/task.ts'

/** When the sweeper goes on with a deletion that whoever asked for it has left unfinished. */
export const GO_ON_MS = 60_000

/**
 * Deletes a task at the top of its tree that has ended: from here on nobody reads it, and its id is
 * never another's. `clearTree` then takes away all that is below it. INVALID_STATE for another task,
 * or where the one that went on in its place has not ended.
 */
export const deleteTask = async (task: Task, author: Author): Promise<TaskRemains> => {
  await checkDeletable(task)
  const { by, keyId, clock = systemClock } = author
  const { id, agentId, principalId, status } = task
  const remains: TaskRemains = { id, agentId, principalId, by, deletedAt: isoNow(clock) }
  const part: Part = { taskId: id, state: 'found' }
  const outcome = await transact([
    {
      remove: taskKey(id),
      where: { status: is.oneOf(TERMINAL), generation: task.generation },
    },
    {
      insert: remains,
      key: remainsKey(id),
      indexes: deletionIndex(id, isoIn(GO_ON_MS, clock)),
    },
    { insert: part, key: partKey(id, id) },
    auditWrite(
      principalId,
      {
        by,
        ...(keyId ? { keyId } : {}),
        action: 'task-deleted',
        target: id,
        from: { agent_id: agentId, status },
      },
      clock,
    ),
  ])
  if (outcome.ok) return remains
  // Somebody else has deleted it in this moment, or it has begun a new life.
  return (await findTaskRemains(id)) ?? deleteTask(await getTask(id), author)
}

const checkDeletable = async (task: Task): Promise<void> => {
  if (task.rootId !== task.id)
    throw new AppError(
      'INVALID_STATE',
      `The task is part of a tree, which is deleted as a whole: delete the task at its top, ${task.rootId}.`,
      { details: { root_task_id: task.rootId } },
    )
  const [last = task] = await lastInLine([task])
  if (TERMINAL.includes(last.status)) return
  const who = last.id === task.id ? 'The task' : `The task goes on as ${last.id}, and`
  throw new AppError(
    'INVALID_STATE',
    `${who} has not ended: it is ${last.status}. Cancel it first, then delete it.`,
  )
}
