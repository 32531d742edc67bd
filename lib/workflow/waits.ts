import { elapse } from '../call/elapse.ts'
import { giveUp, isHopeless } from '../call/give-up.ts'
import { isAsking } from '../call/question.ts'
import { isOverdue, resultOf } from '../call/receipt.ts'
import { ENDED, EVENT_GRACE_MS, type ToolCall } from '../call/tool-call.ts'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import { getTasks, type TaskStatus } from '../task/task.ts'
import { isAwaited, writeAnswer } from './child-answer.ts'

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

const ANSWERED: StepState = { kind: 'answered' }

const waitingFor = (status: TaskStatus, until?: string): StepState => ({
  kind: 'waiting',
  status,
  ...(until === undefined ? {} : { until }),
})
