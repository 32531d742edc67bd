import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { type Id, newNonce } from '../core/ids.ts'
import { errorFields, log } from '../core/log.ts'
import { dueIndex } from '../data/due.ts'
import { type Change, is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { moveOf, OPEN, Task, taskKey } from '../task/task.ts'

/** How long a tick holds a task without renewing, and how often it renews. */
export const LEASE_MS = 60_000
const RENEW_MS = 15_000
/** When the sweeper looks after a lease that ran out. */
const LEASE_GRACE_MS = 30_000

/** Another tick holds the task, or has held it since: this one must stop writing. */
export const LEASE_LOST = Symbol('lease lost')

/**
 * Takes a task for one tick. Its fence rises: everything that an earlier tick would still write
 * fails. Otherwise says why not: the task has ended or moved to another generation (`over`), or
 * someone holds it (`heldUntil`).
 */
export const takeLease = async (
  taskId: Id<'task'>,
  generation: number,
  clock: Clock = systemClock,
): Promise<{ task: Task } | { over: true } | { heldUntil: string }> => {
  const now = isoNow(clock)
  const { change } = moveOf('RUNNING', leaseTerms(taskId, clock), clock)
  const outcome = await table.update(
    Task,
    taskKey(taskId),
    // The token stays: a tick that came twice is none that the execution's wait has ended for.
    { ...change, add: { fence: 1, ticks: 1 } },
    {
      claim: newNonce(),
      where: {
        generation,
        status: is.oneOf(OPEN),
        leaseUntil: is.absentOrAtMost(now),
        // Whatever it is woken for, a provider that asked for time gets it.
        retryAt: is.absentOrAtMost(now),
      },
    },
  )
  if (outcome.ok) return { task: outcome.item }
  const { item } = outcome
  if (!item || item.generation !== generation || !OPEN.includes(item.status)) return { over: true }
  const times = [item.leaseUntil ?? now, item.retryAt ?? now]
  return { heldUntil: times.sort().at(-1) ?? now }
}

/** A change that only the tick that holds the task may write; throws LEASE_LOST otherwise. */
export const writeHeld = async (task: Task, change: Change): Promise<Task> => {
  const outcome = await table.update(Task, taskKey(task.id), change, { where: held(task) })
  if (!outcome.ok) throw LEASE_LOST
  return outcome.item
}

/** The condition under which a tick's write counts. */
export const held = (task: Task) => ({
  fence: task.fence,
  generation: task.generation,
  status: 'RUNNING',
})

/** Keeps a lease alive while `work` runs. */
export const withRenewal = async <T>(
  task: Task,
  work: () => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> => {
  const timer = setInterval(() => {
    writeHeld(task, leaseTerms(task.id, clock)).catch(error =>
      // Losing the lease shows at the next write of the tick itself.
      log('warn', 'lease-not-renewed', { taskId: task.id, ...errorFields(error) }),
    )
  }, RENEW_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

const leaseTerms = (taskId: Id<'task'>, clock: Clock) => ({
  set: {
    leaseUntil: isoIn(LEASE_MS, clock),
    ...dueIndex(taskId, isoIn(LEASE_MS + LEASE_GRACE_MS, clock)),
  },
})
