import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { idOf } from '../core/ids.ts'
import { errorFields, log } from '../core/log.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { transact } from '../data/transact.ts'
import { getTasks, type Task } from '../task/task.ts'
import { writeHeld } from './lease.ts'
import { call, callNext, enqueue, firstFor, placeIn, type Slots, slotsOf } from './slot-queue.ts'

/** How long a task waits for a slot before it looks for itself, should nobody have told it. */
export const SLOT_LOOK_MS = 5 * 60_000
/** How often one look tries again where others are faster. */
const LOOK_ATTEMPTS = 10

/** A slot that a tick holds: it counts for as long as the tick has its task's lease. */
const Slot = z.object({ sk: z.string(), holder: idOf('task'), fence: z.int() })
type Slot = z.infer<typeof Slot>

const SLOT_DIGITS = 6
const slotKey = ({ agentId }: Slots, index: number): table.Key => ({
  pk: slotsOf(agentId),
  sk: `slot#${String(index).padStart(SLOT_DIGITS, '0')}`,
})

/**
 * Does the work of a tick in one of the slots that its task may run in; a task without a cap needs
 * none. `queued` where all are taken: the task is woken when its turn has come.
 */
export const inSlot = async <T>(
  task: Task,
  work: () => Promise<T>,
  clock: Clock = systemClock,
): Promise<T | 'queued'> => {
  if (!task.slots) return work()
  const index = await claimSlot(task, task.slots, clock)
  if (index === undefined) return 'queued'
  try {
    if (task.slotAskedAt !== undefined) await writeHeld(task, { remove: ['slotAskedAt'] })
    return await work()
  } finally {
    // That it could not be given back is no failure of the work: the next one to look sees that its
    // holder has let go of the task.
    await releaseSlot(task, task.slots, index, clock).catch(error =>
      log('warn', 'slot-not-released', { taskId: task.id, ...errorFields(error) }),
    )
  }
}

/**
 * Gives the tick that holds a task a slot, and says which. Undefined where all are taken, or others
 * come first: then the task stands in the queue. Whoever queues writes that first and looks again,
 * so that no slot is given up unseen in between.
 */
export const claimSlot = async (
  task: Task,
  slots: Slots,
  clock: Clock = systemClock,
): Promise<number | undefined> => {
  const place = placeIn(slots, task)
  // Written down by this tick: an earlier one may have had its turn already.
  let isQueued = false
  for (let attempt = 1; attempt <= LOOK_ATTEMPTS || !isQueued; attempt++) {
    const free = await freeSlot(slots, { clock, isFirst: attempt === 1 })
    const ahead = free && (await firstFor(slots.agentId, free.index, place))
    if (free && !ahead && attempt <= LOOK_ATTEMPTS) {
      if (!(await take(task, slots, { free, place }))) continue
      if (isQueued || task.slotAskedAt !== undefined) await passOn(slots, clock)
      return free.index
    }
    // Whoever gave the slot up may have died before it told the one whose turn it is; and one that
    // has ended keeps nobody waiting.
    if (ahead && !(await call(slots.agentId, ahead, clock))) {
      attempt -= 1
      continue
    }
    if (isQueued) return undefined
    await enqueue(slots, task)
    isQueued = true
  }
  return undefined
}

/** Gives the slot of a tick up, and tells the task that has waited longest for it. */
export const releaseSlot = async (
  { id, fence }: Task,
  slots: Slots,
  index: number,
  clock: Clock = systemClock,
): Promise<void> => {
  const where = { holder: id, fence }
  const { ok } = await transact([{ remove: slotKey(slots, index), where }])
  if (ok) await callNext(slots.agentId, index, clock)
}

/** A slot that may be taken, and who is still written there. */
type Free = { index: number; left: Slot | undefined }

/** A slot that nobody holds: at first the last, which others may not take, and then any. */
const freeSlot = async (
  { agentId, cap }: Pick<Slots, 'agentId' | 'cap'>,
  { clock, isFirst }: { clock: Clock; isFirst: boolean },
): Promise<Free | undefined> => {
  const slots = await table.queryAll(Slot, { pk: slotsOf(agentId), prefix: 'slot#' })
  const taken = new Map(slots.map(slot => [Number(slot.sk.split('#')[1]), slot]))
  const free = Array.from({ length: cap }, (_, index) => index).filter(index => !taken.has(index))
  const index = isFirst ? free.at(-1) : free[Math.floor(Math.random() * free.length)]
  if (index !== undefined) return { index, left: undefined }
  const within = [...taken].filter(([index]) => index < cap)
  const holders = await getTasks(within.map(([, { holder }]) => holder))
  const byId = new Map(holders.map(task => [task.id, task]))
  const left = within.find(([, slot]) => !isHeld(slot, byId.get(slot.holder), clock))
  return left && { index: left[0], left: left[1] }
}

/** Whether a slot's tick still has its task: no tick lives longer than its lease. */
const isHeld = ({ fence }: Slot, holder: Task | undefined, clock: Clock): boolean =>
  holder !== undefined &&
  holder.fence === fence &&
  holder.status === 'RUNNING' &&
  holder.leaseUntil !== undefined &&
  holder.leaseUntil > isoNow(clock)

/** Takes a slot and leaves the queue, both or neither. False where someone was faster. */
const take = async (
  { id: holder, fence }: Task,
  slots: Slots,
  { free: { index, left }, place }: { free: Free; place: table.Key },
): Promise<boolean> => {
  const where = left ? { holder: left.holder, fence: left.fence } : { holder: is.absent }
  const { ok } = await transact([
    { update: { set: { holder, fence } }, key: slotKey(slots, index), create: true, where },
    { remove: place },
  ])
  return ok
}

/** Two slots that were given up at once may both have been told to the same task: it tells the next. */
const passOn = async ({ agentId, isNested, cap }: Slots, clock: Clock): Promise<void> => {
  const all = { agentId, cap: isNested ? cap + 1 : cap }
  const free = await freeSlot(all, { clock, isFirst: false })
  if (free) await callNext(agentId, free.index, clock)
}
