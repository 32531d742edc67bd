import * as z from 'zod'
import { type TaskEvent, TaskEventType } from '../task/event.ts'
import { TaskStatus } from '../task/task.ts'
import { Time } from './wire.ts'

export const TaskEventView = z
  .object({
    seq: z.int().describe('Its place among the task’s events, from 1.'),
    type: TaskEventType,
    status: TaskStatus.describe('What the task was from then on.'),
    at: Time,
    by: z.string().nullable().describe('Whose doing it was: a user’s or an agent’s id.'),
    detail: z.string().nullable(),
  })
  .meta({ id: 'TaskEvent' })
export type TaskEventView = z.infer<typeof TaskEventView>

export const presentTaskEvent = ({ seq, type, status, at, by, detail }: TaskEvent) => ({
  seq,
  type,
  status,
  at,
  by: by ?? null,
  detail: detail ?? null,
})
