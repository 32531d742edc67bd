import { lastEntry } from '../task/history.ts'
import type { Task } from '../task/task.ts'
import { trace } from '../trace/tracing.ts'
import { callIdsOf, readCalls } from './conversation.ts'

/**
 * Tells of a task that has ended, where tracing is on. What its last step asked for when something
 * else ended it, no tick will see answered any more: that is told as it was then.
 */
export const tellEnd = (task: Task): Promise<unknown> | undefined =>
  trace(async ({ tellTask, tellCalls }) => {
    tellTask(task)
    const last = task.status === 'COMPLETED' ? undefined : await lastEntry(task.id)
    if (last) tellCalls(task, last, [...(await readCalls(callIdsOf(last))).values()])
  })
