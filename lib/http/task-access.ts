import { notFound } from '../core/errors.ts'
import { findTaskRemains, type TaskRemains } from '../task/remains.ts'
import { getTask, getTasks, type Task } from '../task/task.ts'
import { access, demand } from './access.ts'
import { TaskId } from './wire.ts'

/** The task in the path, for those who may read it, its own agent among them. */
export const readableTask = access({
  who: 'A key of the task’s owner, of a member of the group that owns it or of its agent, or an admin’s.',
  what: 'task',
  params: { id: TaskId },
  errors: ['NOT_FOUND'],
  find: async ({ caller, params }) => {
    const task = await getTask(params.id)
    await demand(caller, 'read', task, () => notFound('task', task.id))
    return task
  },
})

/** The task in the path, for those who may start and cancel such: FORBIDDEN for its own agent. */
export const governedTask = access({
  who: 'A key of the task’s owner, of a member of the group that owns it, or an admin’s.',
  what: 'task',
  params: { id: TaskId },
  errors: ['NOT_FOUND', 'FORBIDDEN'],
  find: async asked => {
    const task = await readableTask.find(asked)
    await demand(asked.caller, 'run', task, () => notFound('task', task.id))
    return task
  },
})

/** The task in the path, or what a deletion has left of it so far. */
export const removableTask = access({
  who: 'A key of the task’s owner, of an owner or admin of the group that owns it, or an admin’s.',
  what: 'task',
  params: { id: TaskId },
  errors: ['NOT_FOUND', 'FORBIDDEN'],
  find: async ({ caller, params: { id } }): Promise<Task | TaskRemains> => {
    const [task] = await getTasks([id])
    const subject = task ?? (await findTaskRemains(id))
    const missing = () => notFound('task', id)
    if (!subject) throw missing()
    await demand(caller, 'delete-tasks', subject, missing)
    return subject
  },
})
