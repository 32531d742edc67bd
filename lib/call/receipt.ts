import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { newNonce } from '../core/ids.ts'
import { log } from '../core/log.ts'
import { loadLarge, storeLarge } from '../data/large.ts'
import type { Operation } from '../tool/define.ts'
import { questionOf } from './question.ts'
import { CallResult, moveCall, type ToolCall } from './tool-call.ts'

/** How long past its operation's time a started call is given before it is taken for dead. */
export const DEADLINE_GRACE_SECONDS = 60

/** What a call's record says from the moment it starts, before anything runs. */
export const startOf = (operation: Operation, clock: Clock = systemClock) => ({
  claim: newNonce(),
  startedAt: isoNow(clock),
  deadlineAt: isoIn((operation.timeoutSeconds + DEADLINE_GRACE_SECONDS) * 1_000, clock),
})

/** Writes what came of a started call; only the run that started it may. */
export const finish = async (
  call: ToolCall,
  result: CallResult,
  clock: Clock = systemClock,
): Promise<ToolCall> => {
  const stored = await storeLarge(call.id, result)
  const outcome = await moveCall(
    call,
    // Also from UNKNOWN: a late result still lands, if nobody settled.
    ['STARTED', 'UNKNOWN'],
    result.isError ? 'FAILED' : 'COMPLETED',
    {
      set: {
        result: stored,
        endedAt: isoNow(clock),
        ...(result.question ? { question: questionOf(result.question, clock) } : {}),
      },
      where: { claim: call.claim },
    },
  )
  if (!outcome.ok)
    log('warn', 'result-came-late', { callId: call.id, status: outcome.item?.status })
  return outcome.item ?? call
}

/** A started call whose function can't be running any more. */
export const isOverdue = (call: ToolCall, clock: Clock = systemClock): boolean =>
  call.status === 'STARTED' && call.deadlineAt !== undefined && call.deadlineAt <= isoNow(clock)

/** How often a call is started at most: an operation that kills its function would go on for ever. */
export const MAX_RUNS = 3

/** How often a call was started. */
export const runsOf = ({ runs, startedAt }: ToolCall): number => runs ?? (startedAt ? 1 : 0)

/** A started call whose time is up runs again only where a repeat does no harm. */
export const mayRunAgain = (call: ToolCall, clock: Clock = systemClock): boolean =>
  isOverdue(call, clock) && call.effect !== 'once' && runsOf(call) < MAX_RUNS

/** Whether a stored call may (still or again) be started. */
export const mayStart = (call: ToolCall, clock: Clock = systemClock): boolean =>
  call.status === 'REQUESTED' || call.status === 'APPROVED' || mayRunAgain(call, clock)

/** The result of a call that has ended. */
export const resultOf = async (call: ToolCall): Promise<CallResult | undefined> =>
  call.result && loadLarge(CallResult, call.result)
