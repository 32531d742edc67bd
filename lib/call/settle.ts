import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { storeLarge } from '../data/large.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { type CallResult, callKey, getCall, moveChange, type ToolCall } from './tool-call.ts'

/** What a person found out about a call: it ran, and this came of it; or it did not run. */
export type Finding = { ran: true; content: string } | { ran: false }

/**
 * Ends a call of which nobody knew whether it ran. It never runs again: where it did not run, the
 * model is told so and may ask anew. INVALID_STATE for a call that is not UNKNOWN.
 */
export const settle = async (
  call: ToolCall,
  finding: Finding,
  { by, also = [], clock = systemClock }: { by: string; also?: TransactionWrite[]; clock?: Clock },
): Promise<ToolCall> => {
  const result: CallResult = finding.ran
    ? { isError: false, content: finding.content }
    : { isError: true, content: 'The operation did not run; a person has checked.' }
  const status = finding.ran ? 'COMPLETED' : 'FAILED'
  const set = {
    result: await storeLarge(call.id, result),
    endedAt: isoNow(clock),
    settledBy: by,
  }
  const outcome = await transact([
    { key: callKey(call.id), update: moveChange(call, status, set), where: { status: 'UNKNOWN' } },
    ...also,
  ])
  if (outcome.ok) return { ...call, ...set, status }
  const current = await getCall(call.id)
  throw new AppError('INVALID_STATE', `The call has nothing to settle: it is ${current?.status}.`)
}
