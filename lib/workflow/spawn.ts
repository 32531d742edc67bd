import type { Agent } from '../agent/agent.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { derivedId, type Id } from '../core/ids.ts'
import { createTask, MAX_DEPTH, MAX_HANDOVERS } from '../task/create.ts'
import { getTask, type Task } from '../task/task.ts'
import { launch } from './execution.ts'

export type Spawn = {
  /** The task that asks, and the call with which it does. */
  sourceId: Id<'task'>
  callId: Id<'call'>
  agent: Agent
  prompt: string
  /** A child works for the source; a successor goes on in its place, under the same parent. */
  role: 'child' | 'successor'
}

/**
 * Makes the task that a call asks for, and starts it. Done again for the same call, it finds the
 * task that is there.
 */
export const spawnTask = async (
  { sourceId, callId, agent, prompt, role }: Spawn,
  clock: Clock = systemClock,
): Promise<Task> => {
  const source = await getTask(sourceId)
  const place = role === 'child' ? placeUnder(source) : placeOf(source)
  if (place.depth > MAX_DEPTH)
    throw new AppError(
      'INVALID_STATE',
      `Sub-agents nest at most ${MAX_DEPTH} deep, and this task is at that depth: do the work here.`,
    )
  if (place.lineage.length - place.depth > MAX_HANDOVERS)
    throw new AppError(
      'INVALID_STATE',
      `A task is handed over at most ${MAX_HANDOVERS} times, and this one has been: do the work here.`,
    )
  const { startedBy } = source
  const asked = { id: spawnedId(callId), agent, prompt, place }
  const { task } = await createTask({ ...asked, ...(startedBy ? { startedBy } : {}) }, clock)
  await launch(task, clock)
  return task
}

/** The id of the task that a call starts, if it starts one. */
export const spawnedId = (callId: Id<'call'>): Id<'task'> => derivedId('task', callId)

const placeUnder = ({ id, rootId, lineage, depth }: Task) => ({
  rootId,
  parentId: id,
  lineage: [...lineage, id],
  depth: depth + 1,
})

/** The successor's marker stands under the parent before the source's own goes. */
const placeOf = ({ id, rootId, parentId, lineage, depth }: Task) => ({
  rootId,
  lineage: [...lineage, id],
  depth,
  ...(parentId ? { parentId } : {}),
})
