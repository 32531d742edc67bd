import type { Agent } from '../agent/agent.ts'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { AppError, otherRequest } from '../core/errors.ts'
import { dueIndex } from '../data/due.ts'
import { toolCalls } from '../llm/message.ts'
import { START_GRACE_MS } from '../task/create.ts'
import { listEvents, type TaskEvent, type TaskEventType } from '../task/event.ts'
import { type Entry, historyKey, historyRow, readHistory, stepsOf } from '../task/history.ts'
import { allowSteps } from '../task/ledger.ts'
import { moveTask } from '../task/move.ts'
import { getTask, type Task, type TaskStatus } from '../task/task.ts'
import { leaveNothing } from './cancel.ts'
import { begin } from './execution.ts'

export type NewLife = {
  type: Extract<TaskEventType, 'retried' | 'continued' | 'followed-up'>
  /** What is said to the model first; without it, it goes on where it was. */
  prompt?: string
  by: string
  /** Names the request: done again, it changes nothing. Another one under its id is refused. */
  request?: NonNullable<TaskEvent['request']>
}

/** From where each begins. */
const FROM: Record<NewLife['type'], readonly TaskStatus[]> = {
  retried: ['FAILED'],
  continued: ['FAILED', 'ABORTED'],
  'followed-up': ['COMPLETED'],
}

/** What follows an answer that did not arrive whole: without it the task would end on that again. */
const ASK_AGAIN = 'Your last answer did not arrive whole. Give it again, shorter if it was cut off.'

/**
 * Lets an ended task go on under the same id with all of its history, its steps counted anew and
 * its agent's limits as they are now. INVALID_STATE where it has not ended so, where its parent was
 * told of its end, or where another task goes on in its place.
 */
export const beginAnew = async (
  task: Task,
  agent: Agent,
  life: NewLife,
  clock: Clock = systemClock,
): Promise<Task> => {
  if (await wasAsked(task, life)) return task
  checkLife(task, agent, life)
  // What is left of the old life must not be taken for the new one's.
  await leaveNothing(task, clock)
  const entries = await readHistory(task.id)
  const prompt = life.prompt ?? (endsHalf(task, entries) ? ASK_AGAIN : undefined)
  const seq = entries.length
  const row =
    prompt === undefined
      ? undefined
      : await historyRow(
          {
            taskId: task.id,
            seq,
            createdAt: isoNow(clock),
            ...(life.prompt === undefined ? { origin: 'platform' as const } : {}),
          },
          { role: 'user', text: prompt },
        )
  const { type, by, request } = life
  const moved = await moveTask(
    task,
    'QUEUED',
    {
      set: {
        begunAt: isoNow(clock),
        stepsFrom: stepsOf(entries).length,
        alsoStartedBy: [...new Set([...(task.alsoStartedBy ?? []), by])],
        failures: 0,
        retries: 0,
        maxSteps: agent.maxSteps,
        ...(agent.maxTokens === undefined ? {} : { maxTokens: agent.maxTokens }),
        ...dueIndex(task.id, isoIn(START_GRACE_MS, clock)),
      },
      remove: [
        'error',
        'finalResponse',
        'endedAt',
        'stalls',
        'stalledAt',
        'retryAt',
        ...(agent.maxTokens === undefined ? ['maxTokens'] : []),
      ],
      // An execution of the old life that hears of it exits.
      add: { generation: 1, life: 1 },
      event: { type, by, ...(request ? { request } : {}) },
      where: { generation: task.generation },
      also: [allowSteps(task), ...(row ? [{ insert: row, key: historyKey(task.id, seq) }] : [])],
    },
    clock,
  )
  const current = await getTask(task.id)
  if (moved) {
    await begin(current, clock)
    return current
  }
  // Somebody was faster, maybe the same request's first try.
  if (await wasAsked(current, life)) return current
  throw new AppError(
    'INVALID_STATE',
    `The task has moved on in this moment: it is ${current.status}. Read it again.`,
  )
}

/** Whether this very request was taken before. */
const wasAsked = async (task: Task, { type, request }: NewLife): Promise<boolean> => {
  if (!request) return false
  const events = await listEvents(task.id)
  const known = events.find(event => event.request?.id === request.id)
  if (known && (known.type !== type || known.request?.hash !== request.hash)) throw otherRequest()
  return known !== undefined
}

const checkLife = (task: Task, agent: Agent, { type, prompt }: NewLife): void => {
  if (task.parentId)
    throw new AppError(
      'INVALID_STATE',
      `The task is a sub-agent's, and its parent ${task.parentId} was told how it ended. Go on with the task at the top, ${task.rootId}.`,
    )
  if (task.handoverTo)
    throw new AppError(
      'INVALID_STATE',
      `Another task goes on in this one's place: ${task.handoverTo}.`,
    )
  const from = FROM[type]
  if (!from.includes(task.status))
    throw new AppError(
      'INVALID_STATE',
      `A task that is ${task.status} can't be ${type.replace('-', ' ')}; only one that is ${from.join(' or ')} can.`,
    )
  if (type === 'followed-up' && !agent.allowFollowup)
    throw new AppError(
      'INVALID_STATE',
      "The task's agent doesn't take follow-ups: allow_followup is off.",
    )
  if (type === 'followed-up' && prompt === undefined)
    throw new AppError('VALIDATION_ERROR', 'A follow-up needs a prompt.')
}

/** A failed task whose last word was an answer, which therefore was none. */
const endsHalf = ({ status }: Task, entries: Entry[]): boolean => {
  const last = entries.at(-1)?.content
  return status === 'FAILED' && last?.role === 'assistant' && toolCalls(last).length === 0
}
