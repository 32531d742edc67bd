import { type Clock, systemClock } from '../core/clock.ts'
import { lastEntry } from '../task/history.ts'
import { cancelSteps } from '../task/ledger.ts'
import { isDetached, listOpen } from '../task/open-children.ts'
import { getTask, getTasks, lastInLine, type Task, TERMINAL } from '../task/task.ts'
import { callIdsOf } from './conversation.ts'
import { type End, endTask } from './end.ts'
import { inGroups } from './in-groups.ts'
import { spawnedId } from './spawn.ts'
import { sendToken } from './wake.ts'
import { livesAgain, withdrawCalls } from './withdraw.ts'

/**
 * Cancels a task, all below it and whoever goes on in its place, for good. First the ledger
 * forbids every further step of them, so that no model is asked after that; then each is ended.
 * What has ended stays as it is, and doing it again finishes what was left. Returns the task that
 * stands in this one's place by now: itself, unless it has handed over.
 */
export const cancelTask = (
  task: Task,
  { by, clock = systemClock }: { by?: string; clock?: Clock } = {},
): Promise<Task> => stop(task, { status: 'CANCELLED', ...(by ? { by } : {}) }, clock)

/**
 * Stops a task, or whoever goes on in its place, so that it can be continued; all below it is
 * cancelled. Otherwise like `cancelTask`.
 */
export const abortTask = (
  task: Task,
  { by, clock = systemClock }: { by?: string; clock?: Clock } = {},
): Promise<Task> => stop(task, { status: 'ABORTED', ...(by ? { by } : {}) }, clock)

const stop = async (task: Task, how: End, clock: Clock): Promise<Task> => {
  await cancelSteps(task, how.status === 'ABORTED' ? 'ABORTED' : 'CANCELLED')
  const ended = await endTree(task, how, clock)
  const [last = ended] = await lastInLine([ended])
  // It has handed over in this moment.
  return TERMINAL.includes(last.status) ? last : endTree(last, how, clock)
}

/**
 * Cancels what an ended task has started and nobody waits for any more; not who goes on in its
 * place, nor what was detached from it, if it came to a good end.
 */
export const cancelBelow = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  const below = await startedBy(task)
  if (await livesAgain(task)) return
  const goesOn = (started: Task) =>
    started.id === task.handoverTo || (task.status === 'COMPLETED' && isDetached(started))
  const left = below.filter(started => !TERMINAL.includes(started.status) && !goesOn(started))
  await inGroups(left, ENDED_AT_ONCE, started => cancelTask(started, { clock }))
}

/** Tasks that are ended side by side: a thousand one by one would take longer than a request may. */
const ENDED_AT_ONCE = 16

/**
 * Nothing of an ended task is left for anyone to approve, and nothing goes on that it has started
 * and that nobody waits for any more.
 */
export const leaveNothing = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  await cancelBelow(task, clock)
  await withdrawCalls(task, clock)
}

/** A task of the stopped one's lineage needs no word of its own in the ledger. */
const endTree = async (task: Task, how: End, clock: Clock): Promise<Task> => {
  // First what is below: who ends is no longer found from above when this is done again.
  await inGroups(await startedBy(task), ENDED_AT_ONCE, started =>
    endTree(started, howBelow(task, started, how), clock),
  )
  const ended = await endOne(task, how, clock)
  await withdrawCalls(ended, clock)
  // Its execution would wait on for a day, for nothing.
  if (ended.token !== undefined) await sendToken(ended.token)
  return ended
}

/** A child of a stopped task has nobody left to be continued for; who goes on in its place has. */
const howBelow = (task: Task, started: Task, how: End): End =>
  started.depth === task.depth ? how : { ...how, status: 'CANCELLED' }

/** Ends a task wherever it has moved to meanwhile, unless it has ended. */
const endOne = async (task: Task, how: End, clock: Clock): Promise<Task> => {
  if (TERMINAL.includes(task.status)) return task
  await endTask(task, how, { clock })
  return endOne(await getTask(task.id), how, clock)
}

/**
 * The open tasks below a task, and those that its last step has started: one that goes on in its
 * place is there before the task says so. What is started after the ledger forbade it never takes
 * a step.
 */
const startedBy = async (task: Task): Promise<Task[]> => {
  const [open, last] = await Promise.all([listOpen(task.id), lastEntry(task.id)])
  return getTasks([
    ...new Set([...open, ...(last ? callIdsOf(last).map(id => spawnedId(id)) : [])]),
  ])
}
