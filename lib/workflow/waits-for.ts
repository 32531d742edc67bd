import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { type Clock, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { type Id, idOf, newNonce } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { transact } from '../data/transact.ts'
import { listMarkers, Marker, markerKey, type Open } from '../task/open-children.ts'
import { getTasks, OPEN, taskKey } from '../task/task.ts'
import { wake } from './wake.ts'

/** A task that waits, by a call, for the end of another one in its tree. */
export type Wait = { waiterId: Id<'task'>; callId: Id<'call'>; targetId: Id<'task'> }

/** How often a wait looks again that could close a circle only with others that may be withdrawn. */
const CIRCLE_ATTEMPTS = 20
const CIRCLE_PAUSE_MS = 100

// Access patterns: who waits for a task's end, by that task; what it waits for stands beside the
// markers of its children (`task/open-children.ts`).
export const waiterKey = ({ targetId, waiterId, callId }: Wait): table.Key => ({
  pk: `waiters#${targetId}`,
  sk: `${waiterId}#${callId}`,
})

const Waiter = z.object({ waiterId: idOf('task'), callId: idOf('call'), targetId: idOf('task') })

/**
 * Has a task wait for the end of another: from now on that end wakes it. `ended` where there is
 * nothing to wait for. Throws INVALID_STATE, naming who waits for whom, where they would wait in a
 * circle: the wait is written first, then looked at from the other end, so that of several that
 * close a circle together the last one sees it.
 */
export const startWaiting = async (wait: Wait): Promise<'waiting' | 'ended'> => {
  const nonce = newNonce()
  const key = markerOf(wait)
  const claim: Marker = { sk: key.sk, kind: 'claimed', nonce }
  const { ok } = await transact([
    { put: claim, key },
    { put: wait, key: waiterKey(wait) },
    {
      update: { set: { isWaitedFor: true } },
      key: taskKey(wait.targetId),
      where: { status: is.oneOf(OPEN) },
    },
  ])
  if (!ok) return 'ended'
  for (let attempt = 1; ; attempt++) {
    const circle = await findCircle(wait)
    if (circle === 'unclear') continue
    if (!circle) break
    // Of those that only look yet, the first by name gives way; the others see what it leaves.
    const rivals = circle.filter(({ kind }) => kind === 'claimed')
    const mustYield = rivals.every(rival => nameOf(wait) < nameOf(rival))
    if (mustYield || attempt >= CIRCLE_ATTEMPTS) {
      await stopWaiting(wait)
      throw circular(wait, circle)
    }
    await sleep(Math.random() * CIRCLE_PAUSE_MS)
  }
  await table.update(Marker, key, { set: { kind: 'wait' } }, { where: { nonce } })
  return 'waiting'
}

/** Ends a wait, whatever has become of what it was for. */
export const stopWaiting = async (wait: Wait): Promise<void> => {
  await table.remove(markerOf(wait))
  await table.remove(waiterKey(wait))
}

/** Ends all waits for a task that has ended; may be done again. */
export const wakeWaiters = async (
  targetId: Id<'task'>,
  clock: Clock = systemClock,
): Promise<void> => {
  const waits = await table.queryAll(Waiter, { pk: `waiters#${targetId}` })
  for (const wait of waits) {
    await table.remove(markerOf(wait))
    await wake(wait.waiterId, clock)
    await table.remove(waiterKey(wait))
  }
}

const markerOf = ({ waiterId, callId, targetId }: Wait): table.Key =>
  markerKey(waiterId, callId, targetId)

/** One step of a walk: who waits, for whom, and how that is known. */
type Edge = Open & { waiterId: Id<'task'> }

/**
 * The way from a wait's target back to its waiter, if there is one: over what each waits for, its
 * children among them. It is read twice, since it counts only if all of it stood at one time.
 */
const findCircle = async (wait: Wait): Promise<Edge[] | 'unclear' | undefined> => {
  const circle = await walk(wait)
  if (!circle) return undefined
  const [again, tasks] = await Promise.all([
    table.batchGet(circle.map(edge => edgeKey(edge))),
    getTasks(circle.map(({ waiterId }) => waiterId)),
  ])
  const stands = circle.every(edge => {
    const marker = again.get(Marker, edgeKey(edge))
    return marker !== undefined && marker.nonce === edge.nonce
  })
  return stands && tasks.every(({ status }) => OPEN.includes(status)) ? circle : 'unclear'
}

const walk = async ({ waiterId, targetId }: Wait): Promise<Edge[] | undefined> => {
  const cameBy = new Map<Id<'task'>, Edge | undefined>([[targetId, undefined]])
  let level = [targetId]
  while (level.length > 0) {
    // What has ended waits for nothing, whatever it has left behind.
    const open = (await getTasks(level)).filter(({ status }) => OPEN.includes(status))
    const edges = (await Promise.all(open.map(({ id }) => waitsOf(id)))).flat()
    level = []
    for (const edge of edges) {
      if (cameBy.has(edge.taskId)) continue
      cameBy.set(edge.taskId, edge)
      if (edge.taskId === waiterId) return pathTo(waiterId, cameBy)
      level.push(edge.taskId)
    }
  }
  return undefined
}

/** What a task waits for, or will at its end: not for what was detached from it. */
const waitsOf = async (waiterId: Id<'task'>): Promise<Edge[]> =>
  (await listMarkers(waiterId))
    .filter(({ kind }) => kind !== 'detached' && kind !== 'spawning')
    .map(open => ({ ...open, waiterId }))

const pathTo = (end: Id<'task'>, cameBy: Map<Id<'task'>, Edge | undefined>): Edge[] => {
  const edge = cameBy.get(end)
  return edge ? [...pathTo(edge.waiterId, cameBy), edge] : []
}

const edgeKey = ({ waiterId, callId, taskId }: Edge): table.Key =>
  markerKey(waiterId, callId, taskId)

const nameOf = (wait: { waiterId: string; callId: string }): string =>
  `${wait.waiterId}#${wait.callId}`

const circular = ({ waiterId, targetId }: Wait, circle: Edge[]): AppError => {
  const others = circle.map(({ waiterId, taskId }) => `${waiterId} waits for ${taskId}`)
  return new AppError(
    'INVALID_STATE',
    `This would never end: ${waiterId} would wait for ${targetId}, but ${others.join(', and ')}. Go on without it, or ask for its result later without waiting.`,
  )
}
