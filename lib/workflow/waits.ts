import { elapse } from '../call/elapse.ts'
import { giveUp, isHopeless } from '../call/give-up.ts'
import { isAsking } from '../call/question.ts'
import { isOverdue, resultOf } from '../call/receipt.ts'
import { shortenText } from '../call/shorten.ts'
import { type CallResult, callKey, ENDED, EVENT_GRACE_MS, ToolCall } from '../call/tool-call.ts'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import { storeLarge } from '../data/large.ts'
import * as table from '../data/table.ts'
import { noneLeft } from '../task/open-children.ts'
import {
  finalText,
  getTasks,
  lastInLine,
  type Task,
  type TaskStatus,
  TERMINAL,
} from '../task/task.ts'
import { DEFAULT_MAX_RESULT_CHARS } from '../tool/define.ts'
import { reportOf } from './report.ts'
import { stopWaiting } from './waits-for.ts'

/** What a step's calls come to: all answered, waiting for something, or handed over. */
export type StepState =
  | { kind: 'answered' }
  | { kind: 'waiting'; status: TaskStatus; until?: string }
  | { kind: 'handed-over'; to: Id<'task'>; content: string }

/** A call's state, and its record where looking has changed it. */
type Looked = { state: StepState; call: ToolCall }

/** When a call whose function couldn't be reached is tried again. */
const UNREACHABLE_RETRY_MS = 5_000

/** When a task looks whether a late result has come: its operation can't wake the task. */
const LATE_RESULT_MS = 15 * 60_000

/** What reports show of what was said, all together, in characters: with the rest of them it fits. */
const REPORTED_TEXT_CHARS = 60_000

/** Of several waits, the one that a person should see. */
const PRECEDENCE: TaskStatus[] = [
  'PENDING_APPROVAL',
  'AWAITING_SETTLEMENT',
  'AWAITING_INPUT',
  'AWAITING_SUB_AGENTS',
  'AWAITING_TOOL',
]

/**
 * Looks at each call of a step, ends what has ended by the passing of time, gathers what children
 * have said, and tells what the task now waits for.
 */
export const stateOfStep = async (
  calls: ToolCall[],
  clock: Clock = systemClock,
): Promise<{ state: StepState; calls: ToolCall[] }> => {
  const looked = await Promise.all(calls.map(call => lookAt(call, clock)))
  return { state: overall(looked.map(({ state }) => state)), calls: looked.map(({ call }) => call) }
}

const overall = (states: StepState[]): StepState => {
  const handover = states.find(state => state.kind === 'handed-over')
  if (handover) return handover
  const waits = states.filter(state => state.kind === 'waiting')
  const status = PRECEDENCE.find(candidate => waits.some(wait => wait.status === candidate))
  if (status === undefined) return ANSWERED
  const until = waits.flatMap(wait => wait.until ?? []).sort()[0]
  return waitingFor(status, until)
}

const lookAt = async (seen: ToolCall, clock: Clock): Promise<Looked> => {
  const call = await elapse(seen, clock)
  switch (call.status) {
    case 'REQUESTED':
    case 'APPROVED':
      return lookAtUnreachable(call, clock)
    case 'PENDING_APPROVAL':
      return { state: waitingFor('PENDING_APPROVAL', call.approvalExpiresAt), call }
    case 'STARTED':
      return isOverdue(call, clock)
        ? lookAtUnreachable(call, clock)
        : { state: waitingFor('AWAITING_TOOL', call.deadlineAt), call }
    case 'UNKNOWN':
      return { state: waitingFor('AWAITING_SETTLEMENT', isoIn(LATE_RESULT_MS, clock)), call }
    case 'COMPLETED':
      return lookAtResult(call, clock)
    case 'REJECTED':
    case 'EXPIRED':
    case 'FAILED':
      return { state: ANSWERED, call }
    default:
      return call.status satisfies never
  }
}

/**
 * A call that may be started (or once more), and whose function can't be reached: it is tried again
 * for a while. One that was given up is looked at as it now is, or later where someone else moved
 * it on.
 */
const lookAtUnreachable = async (seen: ToolCall, clock: Clock): Promise<Looked> => {
  const call = isHopeless(seen, clock) ? await giveUp(seen, clock) : seen
  return ENDED.includes(call.status)
    ? lookAt(call, clock)
    : {
        state: waitingFor(
          'AWAITING_TOOL',
          isoIn(call.isLong ? EVENT_GRACE_MS : UNREACHABLE_RETRY_MS, clock),
        ),
        call,
      }
}

const lookAtResult = async (call: ToolCall, clock: Clock): Promise<Looked> => {
  if (isAsking(call)) return { state: waitingFor('AWAITING_INPUT', call.question?.until), call }
  const result = await resultOf(call)
  if (result?.handover)
    return { state: { kind: 'handed-over', to: result.handover, content: result.content }, call }
  if (!result?.children || call.answer) return { state: ANSWERED, call }
  const { waitUntil } = result
  const children = await getTasks(result.children)
  const isOver = waitUntil !== undefined && waitUntil <= isoNow(clock)
  if (!isOver && (await isAwaited(call, result, children)))
    return { state: waitingFor('AWAITING_SUB_AGENTS', waitUntil), call }
  return { state: ANSWERED, call: await writeAnswer(call, result, { children, clock }) }
}

/**
 * Whether there is still something to wait for: of children until those have ended who went on in
 * their places; of a task elsewhere, until its end has ended the wait.
 */
const isAwaited = async (
  call: ToolCall,
  { isElsewhere }: CallResult,
  children: Task[],
): Promise<boolean> => {
  if (isElsewhere)
    return !children.every(hasEnded) && !(call.taskId && (await noneLeft(call.taskId, call.id)))
  return !(await lastInLine(children)).every(hasEnded)
}

const hasEnded = ({ status }: Task): boolean => TERMINAL.includes(status)

/** Puts what the children came to into the call's record: from now on it can't change. */
const writeAnswer = async (
  call: ToolCall,
  result: CallResult,
  { children, clock }: { children: Task[]; clock: Clock },
): Promise<ToolCall> => {
  // Nobody else ends a wait whose time is up.
  if (result.isElsewhere && call.taskId)
    for (const { id } of children)
      await stopWaiting({ waiterId: call.taskId, callId: call.id, targetId: id })
  const answer = result.reports
    ? await reportAnswer(result, children)
    : await outputAnswer(await lastInLine(children))
  const data = { spawned_sub_task_ids: result.children, answered_at: isoNow(clock) }
  const shown = {
    ...answer,
    content: await shortenText(call.id, answer.content, DEFAULT_MAX_RESULT_CHARS),
    ...(result.isElsewhere ? {} : { data }),
  }
  const outcome = await table.update(
    ToolCall,
    callKey(call.id),
    { set: { answer: await storeLarge(call.id, shown) } },
    { where: { answer: is.absent } },
  )
  return outcome.item ?? call
}

/** What the children said, one after the other. */
const outputAnswer = async (children: Task[]): Promise<CallResult> => ({
  isError: children.every(child => child.status !== 'COMPLETED'),
  content: (await Promise.all(children.map(outputOf))).join('\n\n'),
})

/** What is known of each of them; those that still run go on beside the task. */
const reportAnswer = async (
  { children: ids = [], isElsewhere }: CallResult,
  children: Task[],
): Promise<CallResult> => {
  const room = Math.floor(REPORTED_TEXT_CHARS / Math.max(1, children.length))
  const reports = await Promise.all(children.map(child => reportOf(child, room)))
  const pending = reports.filter(({ state }) => state !== 'done').map(({ task_id }) => task_id)
  const media = [...new Set(reports.flatMap(report => report.media))]
  return {
    isError: false,
    content: JSON.stringify({
      state: pending.length > 0 ? 'pending' : 'done',
      ...(pending.length > 0 ? { pending_task_ids: pending } : {}),
      subagents: reports,
    }),
    ...(media.length > 0 ? { media } : {}),
    fetched: ids.filter(id => !pending.includes(id)),
    ...(isElsewhere ? {} : { beside: pending }),
  }
}

const outputOf = async (child: Task): Promise<string> => {
  if (child.status === 'COMPLETED') return finalText(child)
  const why = child.error ? `: ${child.error.message}` : ''
  return `The sub-agent's task ${child.id} ended as ${child.status}${why}`
}

const ANSWERED: StepState = { kind: 'answered' }

const waitingFor = (status: TaskStatus, until?: string): StepState => ({
  kind: 'waiting',
  status,
  ...(until === undefined ? {} : { until }),
})
