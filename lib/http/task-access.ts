import { notFound } from '../core/errors.ts'
import { governs } from '../principal/caller.ts'
import { getTask } from '../task/task.ts'
import { access, mayRead, usersOnly } from './access.ts'
import { TaskId } from './wire.ts'

/** The task in the path, for whoever governs its owner, and for its own agent to read. */
export const readableTask = access({
  who: 'A key of the task’s owner or of its agent, or an admin’s.',
  what: 'task',
  params: { id: TaskId },
  errors: ['NOT_FOUND'],
  find: async ({ caller, params }) => {
    const task = await getTask(params.id)
    if (!mayRead(caller, task)) throw notFound('task', task.id)
    return task
  },
})

/** The task in the path, for whoever governs its owner: FORBIDDEN for its own agent. */
export const governedTask = access({
  who: 'A key of the task’s owner, or an admin’s.',
  what: 'task',
  params: { id: TaskId },
  errors: ['NOT_FOUND', 'FORBIDDEN'],
  find: async asked => {
    const task = await readableTask.find(asked)
    if (governs(asked.caller, task.principalId)) return task
    throw usersOnly()
  },
})
