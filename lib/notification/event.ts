import * as z from 'zod'

/** What one can be told of. */
export const EVENTS = [
  /** A call waits for a person: for a decision, an answer, or for someone to say whether it ran. */
  'call.waiting',
  /** A call still waits for a decision or an answer, and the time for one is nearly over. */
  'call.expiring',
  /** A task that no other task asked for has come to its end. */
  'task.ended',
] as const
export const NoticeEvent = z.enum(EVENTS)
export type NoticeEvent = z.infer<typeof NoticeEvent>

/** What is sent to try a subscription; nobody subscribes to it. */
export const TEST_EVENT = 'subscription.test'
