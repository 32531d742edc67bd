import { type Clock, systemClock } from '../core/clock.ts'
import type { Where } from '../data/expression.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { eventWrite, type NewEvent } from './event.ts'
import { moveOf, type Task, type TaskStatus, taskKey } from './task.ts'

export type TaskMove = {
  set?: Record<string, unknown>
  remove?: string[]
  add?: Record<string, number>
  event: Omit<NewEvent, 'status'>
  where?: Where
  /** What is written with it, or not at all. */
  also?: TransactionWrite[]
}

/**
 * Moves a task along the table of legal moves, and records that as its next event, all or nothing.
 * False where the move is not legal from where the task is by now, where `where` fails, or where
 * another move has come since the task was read.
 */
export const moveTask = async (
  task: Pick<Task, 'id' | 'eventSeq'>,
  to: TaskStatus,
  { set, remove, add, event, where = {}, also = [] }: TaskMove,
  clock: Clock = systemClock,
): Promise<boolean> => {
  const { change, where: legal } = moveOf(
    to,
    { ...(set ? { set } : {}), ...(remove ? { remove } : {}), add: { ...add, eventSeq: 1 } },
    clock,
  )
  const outcome = await transact([
    { update: change, key: taskKey(task.id), where: { ...legal, ...where } },
    eventWrite(task, { ...event, status: to }, clock),
    ...also,
  ])
  return outcome.ok
}
