import { isAnswer } from '../aws/service-error.ts'
import { sendTaskSuccess } from '../aws/step-functions.ts'
import { type Clock, isoIn, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import { errorFields, log } from '../core/log.ts'
import { dueIndex } from '../data/due.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import type { TransactionWrite } from '../data/transact.ts'
import { getTask, OPEN, Task, taskKey } from '../task/task.ts'
import { isExecuting, startGeneration } from './execution.ts'

/** When the sweeper looks whether a wake was delivered. */
const DELIVERY_GRACE_MS = 30_000

/**
 * Records that something happened which a task may wait for, then ends its wait. A wake says only
 * "look": the tick reads what is true. Waking a task that doesn't wait, or has ended, does no harm.
 */
export const wake = async (taskId: Id<'task'>, clock: Clock = systemClock): Promise<void> => {
  const outcome = await table.update(Task, taskKey(taskId), wakeChange(taskId, clock), {
    where: { status: is.oneOf(OPEN) },
  })
  if (outcome.ok) await deliver(outcome.item, clock)
}

/**
 * The record of a wake as a part of the write that it is about, so that neither is there without
 * the other; `deliverTo` follows, by the sweeper if need be. It has no condition: what happened
 * has happened, whether or not a task still waits for it.
 */
export const wakeWrite = (
  taskId: Id<'task'>,
  clock: Clock = systemClock,
): Extract<TransactionWrite, { update: unknown }> => ({
  key: taskKey(taskId),
  update: wakeChange(taskId, clock),
})

/**
 * Ends the wait of a task whose wake is recorded. That it could not at once is no failure of
 * whoever recorded it: what they did is done, and the sweeper delivers it.
 */
export const deliverTo = async (taskId: Id<'task'>, clock: Clock = systemClock): Promise<void> => {
  try {
    const task = await getTask(taskId)
    if (OPEN.includes(task.status)) await deliver(task, clock)
  } catch (error) {
    log('warn', 'wake-left-to-sweeper', { taskId, ...errorFields(error) })
  }
}

const wakeChange = (taskId: Id<'task'>, clock: Clock) => ({
  add: { wakeSeq: 1 },
  set: dueIndex(taskId, isoIn(DELIVERY_GRACE_MS, clock)),
})

/**
 * Ends the wait that a task is in, if it is in one. Where its token is gone and its execution goes
 * on, someone else has just ended the wait as a rule, or it has run out, and a tick is about to look;
 * or Park is being tried again, and its new token comes back at once, since the wake is recorded. But
 * a late first try of Park may have put its dead token over the new one, and nobody can tell which
 * of the two a token is: the sweeper sees whether anyone looks.
 */
const deliver = async (task: Task, clock: Clock): Promise<void> => {
  if (task.token === undefined || (await sendToken(task.token))) return
  log('info', 'token-gone', { taskId: task.id, generation: task.generation })
  const current = await table.get(Task, taskKey(task.id))
  if (!current || !OPEN.includes(current.status)) return
  // A wait that was retried has a new token, which the task's row holds by now.
  if (current.token !== undefined && current.token !== task.token) return deliver(current, clock)
  if (!(await isExecuting(current))) await startGeneration(current, clock)
}

/** Hands a token back; false where Step Functions no longer knows it. */
export const sendToken = async (taskToken: string): Promise<boolean> => {
  try {
    await sendTaskSuccess({ taskToken, output: '{}' })
    return true
  } catch (error) {
    if (isAnswer(error, 'TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken')) return false
    throw error
  }
}
