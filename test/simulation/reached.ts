import type { ToolCall } from '../../lib/call/tool-call.ts'
import type { Task } from '../../lib/task/task.ts'

/** How often something was reached, by its name: what the seeds have really tried. */
export type Reached = Record<string, number>

/** What tasks and calls came to, and the less usual ways in which they did. */
export const reachedBy = (tasks: Task[], calls: ToolCall[]): Reached => {
  const reached: Reached = {}
  const count = (name: string, isSo: boolean): void => {
    if (isSo) reached[name] = (reached[name] ?? 0) + 1
  }
  for (const task of tasks) {
    count(`task ${task.status}`, true)
    count(`task failed: ${task.error?.code}`, task.status === 'FAILED')
    count(`task at depth ${task.depth}`, task.depth > 0)
    count('task handed over', task.handoverTo !== undefined)
    count('task in a later generation', task.generation > 1)
    count('task woken', task.wakeSeq > 0)
  }
  for (const call of calls) {
    count(`call ${call.status}`, true)
    count(`${call.tool} ${call.operation}`, call.startedAt !== undefined)
    count('call run again', (call.runs ?? 0) > 1)
    count('call settled', call.settledBy !== undefined)
    count('call decided', call.decidedAt !== undefined)
    count('call without a task', call.taskId === undefined)
  }
  return reached
}
