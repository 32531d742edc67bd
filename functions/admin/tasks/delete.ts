import * as z from 'zod'
import { authorOf } from '../../../lib/http/author.ts'
import { endpoint, reply } from '../../../lib/http/endpoint.ts'
import { removableTask } from '../../../lib/http/task-access.ts'
import { TaskId } from '../../../lib/http/wire.ts'
import { clearTree, type IsOver, within } from '../../../lib/workflow/clear-tree.ts'
import { deleteTask } from '../../../lib/workflow/delete-task.ts'

/** How long a request removes what belongs to a task: well within the 29 seconds that it has. */
const CLEAR_MS = 15_000

/** Deleting tasks; `begin` says, for each request, how much of it that does. */
export const deletion = (begin: () => IsOver) => ({
  deleteTask: endpoint(
    {
      method: 'DELETE',
      path: '/api/v1/tasks/{id}',
      tag: 'Tasks',
      summary: 'Delete a task with all below it',
      description:
        'For good: what was said and done in it, in every task that it has started, and in those that went on in its place; what still runs of them is cancelled first. Only a task at the top of its tree that has ended. Its media stay with its owner, and that it was deleted stays in the audit log. 202 where one request can’t remove all of it: the rest goes within minutes, and asking again goes on at once.',
      access: removableTask,
      responses: {
        200: z.object({ id: TaskId, deleted: z.literal(true) }),
        202: z
          .object({ id: TaskId, deleted: z.literal(false) })
          .describe('Nobody reads the task any more; what is below it is being removed.'),
      },
      errors: ['INVALID_STATE'],
    },
    async ({ subject, caller }) => {
      const remains = 'deletedAt' in subject ? subject : await deleteTask(subject, authorOf(caller))
      const { id } = remains
      const isCleared = await clearTree(remains, { isOver: begin() })
      return isCleared ? reply(200, { id, deleted: true }) : reply(202, { id, deleted: false })
    },
  ),
})

export const deleteTaskEndpoints = deletion(() => within(CLEAR_MS))
