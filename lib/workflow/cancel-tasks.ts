import type { Agent } from '../agent/agent.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { listTasks, TERMINAL } from '../task/task.ts'
import { cancelTask } from './cancel.ts'

/** Tasks that are read at once. */
const PAGE = 100

/** Cancels every task of an agent that has not ended; may be done again. */
export const cancelTasksOf = async (
  agentId: Agent['id'],
  clock: Clock = systemClock,
): Promise<void> => {
  let cursor: string | undefined
  do {
    const page = await listTasks({ agentId }, { limit: PAGE, ...(cursor ? { cursor } : {}) })
    for (const task of page.items)
      if (!TERMINAL.includes(task.status)) await cancelTask(task, { clock })
    cursor = page.cursor
  } while (cursor)
}
