import type { Agent } from '../agent/agent.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { derivedId, type Id } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { createTask, MAX_DEPTH, MAX_HANDOVERS } from '../task/create.ts'
import { Marker, markerKey, noneLeft } from '../task/open-children.ts'
import { getTask, type Task } from '../task/task.ts'
import { launch } from './execution.ts'
import { wake } from './wake.ts'

/** The task that asks for others, and the call with which it does. */
export type Source = { sourceId: Id<'task'>; callId: Id<'call'> }
export type Work = { agent: Agent; prompt: string }

/**
 * Makes the task that goes on in the source's place, under the same parent and on the same terms.
 * Done again for the same call, it finds the task that is there.
 */
export const spawnSuccessor = async (
  { sourceId, callId }: Source,
  work: Work,
  clock: Clock = systemClock,
): Promise<Task> => {
  const source = await getTask(sourceId)
  const place = placeOf(source)
  checkPlace(place)
  return start({ source, id: spawnedId(callId), work, place }, clock)
}

/** What children's ends are to their parent, and in how many slots of its agent they may run. */
export type Terms = {
  spawn: Omit<NonNullable<Task['spawn']>, 'callId'>
  /** How many of the agent's sub-agents run at once, where that is limited. */
  maxConcurrent?: number
}

/**
 * Makes the children that a call asks for, and starts them. Done again for the same call, it finds
 * those that are there. INVALID_STATE where they would nest too deep, or the source has ended.
 */
export const spawnChildren = async (
  { sourceId, callId }: Source,
  works: Work[],
  { spawn, maxConcurrent }: Terms,
  clock: Clock = systemClock,
): Promise<Task[]> => {
  const source = await getTask(sourceId)
  const slots = maxConcurrent === undefined ? {} : { slots: slotsOf(source, maxConcurrent) }
  const place = { ...placeUnder(source), spawn: { ...spawn, callId }, ...slots }
  checkPlace(place)
  // A child that ends while its siblings are still being made is not the last one.
  const spawning = markerKey(sourceId, callId, 'spawning')
  const isHeld = works.length > 1 && spawn.awaited
  if (isHeld) await table.insert(Marker, { sk: spawning.sk, kind: 'spawning' }, { key: spawning })
  const children: Task[] = []
  for (const [index, work] of works.entries())
    children.push(await start({ source, id: spawnedId(callId, index), work, place }, clock))
  if (isHeld) {
    await table.remove(spawning)
    if (await noneLeft(sourceId, callId)) await wake(sourceId, clock)
  }
  return children
}

/** The id of a task that a call starts: of its only one, or of the one at a place among several. */
export const spawnedId = (callId: Id<'call'>, index = 0): Id<'task'> =>
  index === 0 ? derivedId('task', callId) : derivedId('task', callId, index)

type Start = {
  source: Task
  id: Id<'task'>
  work: Work
  place: NonNullable<Parameters<typeof createTask>[0]['place']>
}

const start = async (
  { source: { startedBy }, id, work, place }: Start,
  clock: Clock,
): Promise<Task> => {
  const asked = { ...work, id, place, ...(startedBy ? { startedBy } : {}) }
  const { task } = await createTask(asked, clock)
  await launch(task, clock)
  return task
}

const checkPlace = (place: Pick<Task, 'depth' | 'lineage'>): void => {
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
}

const placeUnder = ({ id, rootId, lineage, depth }: Task) => ({
  rootId,
  parentId: id,
  lineage: [...lineage, id],
  depth: depth + 1,
})

/** The successor's markers stand before the source's own go. */
const placeOf = ({ id, rootId, parentId, lineage, depth, spawn, slots }: Task) => ({
  rootId,
  lineage: [...lineage, id],
  depth,
  ...(parentId ? { parentId } : {}),
  ...(spawn ? { spawn } : {}),
  ...(slots ? { slots } : {}),
})

/** The last slot is kept for children of tasks at the top: those of others never take the last. */
const slotsOf = ({ agentId, depth }: Task, maxConcurrent: number): NonNullable<Task['slots']> => {
  const isNested = depth > 0
  return { agentId, isNested, cap: Math.max(1, isNested ? maxConcurrent - 1 : maxConcurrent) }
}
