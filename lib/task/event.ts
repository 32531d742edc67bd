import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { type Id, idOf } from '../core/ids.ts'
import * as table from '../data/table.ts'
import type { TransactionWrite } from '../data/transact.ts'
import { type Task, TaskStatus } from './task.ts'

/** What can happen to a task as a whole; its steps and calls have records of their own. */
export const TaskEventType = z.enum([
  'created',
  'waiting',
  'retry-scheduled',
  'completed',
  'handed-over',
  'failed',
  'cancelled',
  'aborted',
  'retried',
  'continued',
  'followed-up',
])
export type TaskEventType = z.infer<typeof TaskEventType>

/** One thing that happened to a task. `seq` counts from 1 without gaps: it is the order, not a clock. */
export const TaskEvent = z.object({
  taskId: idOf('task'),
  seq: z.int(),
  at: z.iso.datetime(),
  type: TaskEventType,
  /** What the task was from then on. */
  status: TaskStatus,
  /** Whose doing it was: a user's or an agent's id; absent where the task came to it by itself. */
  by: z.string().optional(),
  /** One sentence more: why it failed, until when it waits. */
  detail: z.string().optional(),
  /** The request that did it, where one could come twice. */
  request: z.object({ id: z.string(), hash: z.string() }).optional(),
})
export type TaskEvent = z.infer<typeof TaskEvent>

// Access patterns: a task's events in order, from any place on.
const SEQ_DIGITS = 6
export const eventKey = (taskId: Id<'task'>, seq: number): table.Key => ({
  pk: taskId,
  sk: `event#${String(seq).padStart(SEQ_DIGITS, '0')}`,
})

export type NewEvent = Pick<TaskEvent, 'type' | 'status'> &
  Partial<Pick<TaskEvent, 'by' | 'detail' | 'request'>>

/**
 * The next event of a task as a part of the transaction that makes it so, which also has to add 1
 * to `eventSeq`. Where another move has come first, its place is taken and the transaction fails.
 */
export const eventWrite = (
  { id, eventSeq }: Pick<Task, 'id' | 'eventSeq'>,
  event: NewEvent,
  clock: Clock = systemClock,
): TransactionWrite => {
  const seq = eventSeq + 1
  const row: TaskEvent = { taskId: id, seq, at: isoNow(clock), ...event }
  return { insert: row, key: eventKey(id, seq) }
}

/** A task's events after a place (0 for all), in order; all there are, or the first so many. */
export const listEvents = async (
  taskId: Id<'task'>,
  { after = 0, limit }: { after?: number; limit?: number } = {},
): Promise<TaskEvent[]> => {
  const list = { pk: taskId, between: [eventKey(taskId, after + 1).sk, LAST] } as const
  if (limit === undefined) return table.queryAll(TaskEvent, list)
  return (await table.query(TaskEvent, { ...list, limit })).items
}

const LAST = `event#${'9'.repeat(SEQ_DIGITS)}`
