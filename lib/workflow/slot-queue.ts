import * as z from 'zod'
import { type Clock, systemClock } from '../core/clock.ts'
import { type Id, idOf } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { getTasks, OPEN, type Task } from '../task/task.ts'
import { wake } from './wake.ts'

export type Slots = NonNullable<Task['slots']>

/** A task that waits for a slot; it takes only those whose number is below its cap. */
const Waiting = z.object({ sk: z.string(), taskId: idOf('task'), cap: z.int() })
export type Waiting = z.infer<typeof Waiting>

/** Tasks that may take the last slot, and those that may not, wait in lanes of their own. */
const LANES = ['top', 'nested'] as const

// Access patterns: which of an agent's slots are taken (`slots.ts`), and who waits for one: the
// first of each lane.
export const slotsOf = (agentId: Id<'agent'>): string => `slots#${agentId}`
export const placeIn = (
  { agentId, isNested }: Slots,
  { id, createdAt }: Pick<Task, 'id' | 'createdAt'>,
): table.Key => ({
  pk: slotsOf(agentId),
  sk: `waiting#${isNested ? 'nested' : 'top'}#${createdAt}#${id}`,
})
/** When a task was made, and its id: older ones go first, in whichever lane. */
const turnOf = (sk: string): string => sk.split('#').slice(2).join('#')

/** Lets a task wait; done again, it keeps its place. */
export const enqueue = async (
  slots: Slots,
  task: Pick<Task, 'id' | 'createdAt'>,
): Promise<void> => {
  const key = placeIn(slots, task)
  await table.insert(Waiting, { sk: key.sk, taskId: task.id, cap: slots.cap }, { key })
}

/** Of those that wait and may take a slot, the one whose turn it is; only one before a place, if given. */
export const firstFor = async (
  agentId: Id<'agent'>,
  index: number,
  place?: table.Key,
): Promise<Waiting | undefined> => {
  const heads = await Promise.all(
    LANES.map(async lane => {
      const list = { pk: slotsOf(agentId), prefix: `waiting#${lane}#`, limit: 1 }
      return (await table.query(Waiting, list)).items
    }),
  )
  const [first] = heads
    .flat()
    .filter(({ sk, cap }) => index < cap && (!place || turnOf(sk) < turnOf(place.sk)))
    .sort((one, other) => (turnOf(one.sk) < turnOf(other.sk) ? -1 : 1))
  return first
}

/** Tells the task whose turn it is that a slot is free. */
export const callNext = async (
  agentId: Id<'agent'>,
  index: number,
  clock: Clock = systemClock,
): Promise<void> => {
  for (;;) {
    const next = await firstFor(agentId, index)
    if (!next || (await call(agentId, next, clock))) return
  }
}

/** Wakes a task that waits; one that has ended meanwhile only leaves the queue. */
export const call = async (
  agentId: Id<'agent'>,
  { sk, taskId }: Waiting,
  clock: Clock = systemClock,
): Promise<boolean> => {
  const [task] = await getTasks([taskId])
  if (task && OPEN.includes(task.status)) {
    await wake(task.id, clock)
    return true
  }
  await table.remove({ pk: slotsOf(agentId), sk })
  return false
}
