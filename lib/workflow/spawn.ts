import type { Agent } from '../agent/agent.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { derivedId, type Id } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { transact } from '../data/transact.ts'
import { createTask, MAX_DEPTH } from '../task/create.ts'
import { spawnMarker } from '../task/open-children.ts'
import { getTask, type Task, TERMINAL } from '../task/task.ts'
import { startGeneration } from './execution.ts'

/**
 * Makes a child of a task for one tool call, and starts it. Done again for the same call, it
 * finds the child that is there. While the marker of the spawn stands, no end of a child wakes
 * the parent.
 */
export const spawnChild = async (
  {
    parentId,
    callId,
    agent,
    prompt,
  }: { parentId: Id<'task'>; callId: Id<'call'>; agent: Agent; prompt: string },
  clock: Clock = systemClock,
): Promise<Task> => {
  const parent = await getTask(parentId)
  if (TERMINAL.includes(parent.status))
    throw new AppError('INVALID_STATE', `The task is ${parent.status} and starts nothing any more.`)
  if (parent.ancestors.length + 1 > MAX_DEPTH)
    throw new AppError(
      'INVALID_STATE',
      `Sub-agents nest at most ${MAX_DEPTH} deep, and this task is at that depth: do the work here.`,
    )
  const marker = spawnMarker(parentId, callId)
  await transact([{ put: {}, key: marker }])
  const id = derivedId('task', callId)
  const { task, created } = await createTask({ id, agent, prompt, parent }, clock)
  await table.remove(marker)
  if (created || task.generation === 0) await startGeneration(task, clock)
  return task
}
