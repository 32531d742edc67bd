import { type Agent, findAgent } from '../agent/agent.ts'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import type { AppError } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { dueIndex } from '../data/due.ts'
import { small, storeLarge } from '../data/large.ts'
import type { TransactionWrite } from '../data/transact.ts'
import { textOf } from '../llm/message.ts'
import type { ModelErrorDetails, ModelErrorKind } from '../llm/model-error.ts'
import { announce } from '../notification/announce.ts'
import type { Notice } from '../notification/notice.ts'
import { outboxWrites } from '../notification/outbox.ts'
import type { Entry } from '../task/history.ts'
import { endOfStopped } from '../task/ledger.ts'
import { moveTask, type TaskMove } from '../task/move.ts'
import { getTask, type Task, type TaskStatus } from '../task/task.ts'
import { MAX_WAIT_SECONDS } from './definition.ts'
import { type End, endTask } from './end.ts'
import { held, LEASE_LOST, writeHeld } from './lease.ts'
import { SLOT_LOOK_MS } from './slots.ts'

/** What the state machine reads; every field is always there, since its paths must lead somewhere. */
export type TickOutcome = {
  outcome: 'again' | 'wait' | 'until' | 'end'
  wakeSeq: number
  /** The lease under which the tick saw that: a later one has seen more. */
  fence: number
  waitSeconds: number
  until: string
}

/** Failed model requests in a row before the task fails. */
export const MAX_MODEL_FAILURES = 4
const RETRY_BASE_SECONDS = 5
/** The longest wait for a provider, whatever it asks for: a task that sleeps for days looks dead. */
export const MAX_RETRY_SECONDS = 3_600
/** What the sweeper gives a wait beyond its end. */
const WAIT_GRACE_MS = 60_000

export const outcomeOf = (
  outcome: TickOutcome['outcome'],
  fields: Partial<TickOutcome> = {},
): TickOutcome => ({ wakeSeq: 0, fence: 0, waitSeconds: 0, until: '', ...fields, outcome })

/** A transaction has room for 100 writes; the move itself takes a few of them. */
const MAX_NOTICE_WRITES = 80

/**
 * Leaves the task waiting: the lease goes, and the wake that the tick saw is noted. What there is to
 * `tell` people is recorded with it.
 */
export const park = async (
  task: Task,
  { status, until, tell = [] }: { status: TaskStatus; until?: string; tell?: Notice[] },
  clock: Clock = systemClock,
): Promise<TickOutcome> => {
  const notices: TransactionWrite[] = []
  for (const notice of tell) {
    const writes = await outboxWrites(notice, clock)
    // Whoever hears of so many finds the others in the same list.
    if (notices.length + writes.length > MAX_NOTICE_WRITES) break
    notices.push(...writes)
  }
  const waitSeconds = secondsUntil(until, clock)
  const set = {
    seenWakeSeq: task.wakeSeq,
    ...dueIndex(task.id, isoIn(waitSeconds * 1_000 + WAIT_GRACE_MS, clock)),
  }
  await move(task, status, { set, event: { type: 'waiting' }, also: notices }, clock)
  await announce(notices)
  return outcomeOf('wait', { wakeSeq: task.wakeSeq, fence: task.fence, waitSeconds })
}

/** Leaves the task in the queue for one of its agent's slots, until it is told or looks for itself. */
export const queueForSlot = async (
  task: Task,
  clock: Clock = systemClock,
): Promise<TickOutcome> => {
  const set = {
    seenWakeSeq: task.wakeSeq,
    slotAskedAt: task.slotAskedAt ?? isoNow(clock),
    ...dueIndex(task.id, isoIn(SLOT_LOOK_MS + WAIT_GRACE_MS, clock)),
  }
  const detail = `${task.slots?.cap} sub-agents of the agent that asked for it run already.`
  await move(task, 'QUEUED', { set, event: { type: 'waiting', detail } }, clock)
  const waitSeconds = SLOT_LOOK_MS / 1_000
  return outcomeOf('wait', { wakeSeq: task.wakeSeq, fence: task.fence, waitSeconds })
}

/** Completes the task with what the model said last, if the model had come to an end. */
export const complete = async (
  task: Task,
  last: Entry,
  clock: Clock = systemClock,
): Promise<TickOutcome> => {
  if (last.content.role !== 'assistant') return outcomeOf('end')
  if (last.finishReason === 'length')
    return fail(task, 'ANSWER_CUT_OFF', "The model's answer was cut off at its longest.", clock)
  if (last.finishReason === 'content-filter')
    return fail(task, 'ANSWER_FILTERED', "The model's answer was cut off by its filter.", clock)
  const text = textOf(last.content)
  const finalResponse = await storeLarge(task.id, text)
  return end(task, { status: 'COMPLETED', set: { finalResponse } }, clock)
}

/** Completes the task in favour of the one that goes on in its place. */
export const handOver = async (
  task: Task,
  { to, content }: { to: Id<'task'>; content: string },
  clock: Clock = systemClock,
): Promise<TickOutcome> => {
  const agent = await findAgent((await getTask(to)).agentId)
  const set = {
    finalResponse: small(content),
    handoverTo: to,
    ...(agent ? { handoverAgent: { id: agent.id, name: agent.name } } : {}),
  }
  return end(task, { status: 'COMPLETED', set }, clock)
}

export const fail = (task: Task, code: string, message: string, clock: Clock = systemClock) =>
  end(task, { status: 'FAILED', set: { error: { code, message } } }, clock)

/** Ends a task that may take no step any more: whoever stops it has said so before they end it. */
export const stopped = async (task: Task, clock: Clock = systemClock): Promise<TickOutcome> =>
  end(task, { status: await endOfStopped(task) }, clock)

/**
 * Queues the task for another try where the model's error allows it: a few soon, each later than
 * the one before, then as many as its agent says, each after the agent's minutes. Fails it
 * otherwise.
 */
export const retryOrFail = async (
  task: Task,
  agent: Pick<Agent, 'maxRetries' | 'retryAfterMinutes'>,
  error: AppError,
  clock: Clock = systemClock,
): Promise<TickOutcome> => {
  const details = error.details as ModelErrorDetails
  const code = codeOf(details.kind)
  const { message } = error
  const failures = task.failures + 1
  const isSoon = details.is_retryable && failures < MAX_MODEL_FAILURES
  const isLater = mayPass(details) && task.retries < agent.maxRetries
  if (!isSoon && !isLater) return fail(task, code, message, clock)
  const soon = details.retry_after_seconds ?? RETRY_BASE_SECONDS * 2 ** failures
  const seconds = isSoon ? Math.min(soon, MAX_RETRY_SECONDS) : agent.retryAfterMinutes * 60
  const until = isoIn(seconds * 1_000, clock)
  const set = {
    ...(isSoon ? { failures } : { failures: 0, retries: task.retries + 1 }),
    // Whoever looks at the waiting task sees what it waits out.
    error: { code, message },
    retryAt: until,
    ...dueIndex(task.id, isoIn(seconds * 1_000 + WAIT_GRACE_MS, clock)),
  }
  await move(task, 'QUEUED', { set, event: { type: 'retry-scheduled', detail: message } }, clock)
  return outcomeOf('until', { until })
}

/** As a failed task shows it. */
const codeOf = (kind: ModelErrorKind): string =>
  kind === 'timeout' ? 'LLM_TIMEOUT' : kind.toUpperCase().replaceAll('-', '_')

/** What may be gone by itself, or by an operator's hand, after a while. */
const mayPass = ({ is_retryable, kind }: ModelErrorDetails): boolean =>
  is_retryable || kind === 'auth-error' || kind === 'rate-limit'

/** Gives the task up for the next tick, since this one's time is nearly over. */
export const handOn = async (task: Task): Promise<TickOutcome> => {
  await release(task)
  return outcomeOf('again')
}

/**
 * Lets go of the lease, so that the next tick need not wait for its end. The fence rises as well: a
 * renewal that is still on its way would take the lease again.
 */
export const release = (task: Task) =>
  writeHeld(task, { remove: ['leaseUntil'], add: { fence: 1 } })

const end = async (task: Task, how: End, clock: Clock): Promise<TickOutcome> => {
  if (!(await endTask(task, how, { where: held(task), clock }))) throw LEASE_LOST
  return outcomeOf('end')
}

const move = async (
  task: Task,
  to: TaskStatus,
  move: Pick<TaskMove, 'set' | 'event' | 'also'>,
  clock: Clock,
): Promise<void> => {
  const terms = { ...move, remove: ['leaseUntil'], where: held(task) }
  if (!(await moveTask(task, to, terms, clock))) throw LEASE_LOST
}

/** Whole seconds until a time, at least one, and no more than the state machine waits. */
const secondsUntil = (until: string | undefined, clock: Clock): number => {
  if (until === undefined) return MAX_WAIT_SECONDS
  const seconds = Math.ceil((Date.parse(until) - clock.now().getTime()) / 1_000) + 1
  return Math.min(Math.max(seconds, 1), MAX_WAIT_SECONDS)
}
