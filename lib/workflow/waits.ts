import { elapse } from '../call/elapse.ts'
import { giveUp, isHopeless } from '../call/give-up.ts'
import { isOverdue, resultOf } from '../call/receipt.ts'
import { shortenText } from '../call/shorten.ts'
import { type CallResult, callKey, ENDED, ToolCall } from '../call/tool-call.ts'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import { storeLarge } from '../data/large.ts'
import * as table from '../data/table.ts'
import {
  finalText,
  getTasks,
  lastInLine,
  type Task,
  type TaskStatus,
  TERMINAL,
} from '../task/task.ts'
import { DEFAULT_MAX_RESULT_CHARS } from '../tool/define.ts'

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
    : { state: waitingFor('AWAITING_TOOL', isoIn(UNREACHABLE_RETRY_MS, clock)), call }
}

const lookAtResult = async (call: ToolCall, clock: Clock): Promise<Looked> => {
  const result = await resultOf(call)
  if (result?.handover)
    return { state: { kind: 'handed-over', to: result.handover, content: result.content }, call }
  if (!result?.children || call.answer) return { state: ANSWERED, call }
  const children = await lastInLine(await getTasks(result.children))
  if (!children.every(child => TERMINAL.includes(child.status)))
    return { state: waitingFor('AWAITING_SUB_AGENTS'), call }
  return { state: ANSWERED, call: await writeAnswer(call, children, clock) }
}

/** Puts what the children came to into the call's record: from now on it can't change. */
const writeAnswer = async (call: ToolCall, children: Task[], clock: Clock): Promise<ToolCall> => {
  const outputs = await Promise.all(children.map(outputOf))
  const answer: CallResult = {
    isError: children.every(child => child.status !== 'COMPLETED'),
    content: await shortenText(call.id, outputs.join('\n\n'), DEFAULT_MAX_RESULT_CHARS),
    data: { spawned_sub_task_ids: children.map(child => child.id), answered_at: isoNow(clock) },
  }
  const outcome = await table.update(
    ToolCall,
    callKey(call.id),
    { set: { answer: await storeLarge(call.id, answer) } },
    { where: { answer: is.absent } },
  )
  return outcome.item ?? call
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
