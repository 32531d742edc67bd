import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import { getTasks, type Task, TERMINAL } from '../task/task.ts'
import { callsOf } from './calls-of.ts'
import { readCalls } from './conversation.ts'
import { endTask } from './end.ts'
import { spawnedId } from './spawn.ts'
import { sendToken } from './wake.ts'
import { withdrawCalls } from './withdraw.ts'

/** Places among a call's children that are looked at together. */
const PROBED_AT_ONCE = 100

/**
 * Ends a task of a deleted tree, if it has not ended, and finds every task that one of its calls has
 * started, or that goes on in its place: an ended one starts none any more. By the ids that such
 * tasks have, since a call may have died before it said what it did, and may say what it likes.
 */
export const gatherChildren = async (
  taskId: Id<'task'>,
  { by, clock }: { by: string; clock: Clock },
): Promise<Id<'task'>[]> => {
  const [task] = await getTasks([taskId])
  if (task) await end(task, by, clock)
  const calls = await readCalls(await callsOf(taskId))
  const started = [...calls.values()].filter(({ startedAt }) => startedAt !== undefined)
  const first = await getTasks(started.map(({ id }) => spawnedId(id)))
  const firstIds = new Set(first.map(({ id }) => id))
  const several = started.filter(({ id }) => firstIds.has(spawnedId(id)))
  const others = await Promise.all(several.map(({ id }) => othersOf(id)))
  return [...firstIds, ...others.flat()]
}

/** A call's children beside its first: they are made in order, so the last one ends the search. */
const othersOf = async (callId: Id<'call'>): Promise<Id<'task'>[]> => {
  const ids: Id<'task'>[] = []
  for (let from = 1; ; from += PROBED_AT_ONCE) {
    const places = Array.from({ length: PROBED_AT_ONCE }, (_, index) => from + index)
    const some = await getTasks(places.map(place => spawnedId(callId, place)))
    ids.push(...some.map(({ id }) => id))
    if (some.length < PROBED_AT_ONCE) return ids
  }
}

/** Ends a task wherever it has moved to meanwhile, with nothing of it left that could start. */
const end = async (task: Task, by: string, clock: Clock): Promise<void> => {
  if (TERMINAL.includes(task.status)) return
  await endTask(task, { status: 'CANCELLED', by }, { clock })
  const [current] = await getTasks([task.id])
  if (!current) return
  if (!TERMINAL.includes(current.status)) return end(current, by, clock)
  await withdrawCalls(current, clock)
  if (current.token !== undefined) await sendToken(current.token)
}
