import * as z from 'zod'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import { small, storeLarge } from '../data/large.ts'
import type * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { outboxWrites } from '../notification/outbox.ts'
import { descriptionOf } from './description.ts'
import { digestOf } from './digest.ts'
import type { Admission } from './gate.ts'
import { callKey, getCall, moveCall, moveChange, type ToolCall } from './tool-call.ts'

/** How long an approval may be given after it was asked for. */
const APPROVAL_HOURS = 72

/** What a person decided about a call; the digest is part of its key. */
export const Decision = z.object({
  callId: idOf('call'),
  digest: z.string(),
  decision: z.enum(['approve', 'reject']),
  by: z.string(),
  at: z.iso.datetime(),
  reason: z.string().optional(),
})
export type Decision = z.infer<typeof Decision>

// Access patterns: the decision about exactly one form of a call. The leading key is one that no
// operation's role can write, so that no tool can approve anything.
export const decisionKey = (callId: Id<'call'>, digest: string): table.Key => ({
  pk: `decision#${callId}`,
  sk: digest,
})

export const approvalExpiry = (clock: Clock = systemClock) =>
  isoIn(APPROVAL_HOURS * 3_600_000, clock)

type Seen = {
  /** The digest of the call as the person saw it. */
  digest: string
  by: string
  clock?: Clock
  /** What is written with the decision or not at all: that a task has to look. */
  also?: TransactionWrite[]
}

/**
 * Approves a call that waits, as it stands or, where the person `edited` it, with other arguments;
 * `admission` is what the gate makes of them now. INVALID_STATE where it doesn't wait any more,
 * DIGEST_MISMATCH where what would run is not what the person saw: then it is put up again.
 */
export const approve = async (
  call: ToolCall,
  {
    digest,
    by,
    clock = systemClock,
    also = [],
    admission,
    edited,
  }: Seen & { admission: Admission; edited: boolean },
): Promise<ToolCall> => {
  // Nothing is stored of a decision that comes to nothing.
  if (!isDecidable(call, digest, clock)) throw await whyNot(call.id, digest, clock)
  const current = digestOf(call, admission)
  if (!edited && current !== digest) {
    await putUpAgain(call, admission, clock)
    throw await whyNot(call.id, digest, clock)
  }
  return decide(call, { digest, by, clock, also }, 'APPROVED', {
    decision: { digest: current, decision: 'approve' },
    ...(edited ? { set: { ...(await formOf(call, admission)), editedBy: by } } : {}),
  })
}

/** Asks again, about what would run now: its arguments, its description and its digest. */
export const putUpAgain = async (
  call: ToolCall,
  admission: Admission,
  clock: Clock = systemClock,
): Promise<ToolCall> => {
  const set = {
    ...(await formOf(call, admission)),
    requiresApproval: true,
    approvalExpiresAt: approvalExpiry(clock),
  }
  const again = { ...call, ...set, status: 'PENDING_APPROVAL' as const }
  const agentName = admission.agent.name
  const outcome = await moveCall(call, [call.status], 'PENDING_APPROVAL', {
    set,
    // Who decided about another form of it decided nothing about this one.
    remove: ['decidedAt', 'decidedBy'],
    notices: await outboxWrites({ type: 'call.waiting', call: again, agentName }, clock),
  })
  return outcome.item ?? call
}

/** Rejects a call that waits; the model reads the reason. */
export const reject = async (
  call: ToolCall,
  { digest, by, clock = systemClock, also = [], reason }: Seen & { reason?: string },
): Promise<ToolCall> => {
  const content = `Action rejected by user: ${reason ?? 'no reason given'}`
  return decide(call, { digest, by, clock, also }, 'REJECTED', {
    decision: { digest, decision: 'reject', ...(reason === undefined ? {} : { reason }) },
    set: { result: small({ isError: true, content }), endedAt: isoNow(clock) },
  })
}

/** Ends a wait that nobody ended in time; nothing runs. */
export const expire = (call: ToolCall, clock: Clock = systemClock) =>
  moveCall(call, ['PENDING_APPROVAL'], 'EXPIRED', {
    set: {
      endedAt: isoNow(clock),
      result: small({
        isError: true,
        content: 'The approval expired before anyone decided; nothing ran.',
      }),
    },
  })

export const hasExpired = (call: ToolCall, clock: Clock = systemClock): boolean =>
  call.approvalExpiresAt !== undefined && call.approvalExpiresAt <= isoNow(clock)

/** What a person is shown of a call, and the digest that stands for it. */
const formOf = async (call: ToolCall, admission: Admission) => ({
  digest: digestOf(call, admission),
  arguments: await storeLarge(call.id, admission.parameters),
  description: descriptionOf(admission),
})

const decide = async (
  call: ToolCall,
  { digest, by, clock, also }: Required<Seen>,
  status: 'APPROVED' | 'REJECTED',
  {
    decision,
    set = {},
  }: { decision: Omit<Decision, 'callId' | 'by' | 'at'>; set?: Partial<ToolCall> },
): Promise<ToolCall> => {
  const at = isoNow(clock)
  if (isDecidable(call, digest, clock)) {
    const outcome = await transact([
      {
        // Replaces one about the same digest: after a change and its undoing it is asked again.
        put: { callId: call.id, by, at, ...decision } satisfies Decision,
        key: decisionKey(call.id, decision.digest),
      },
      {
        key: callKey(call.id),
        update: moveChange(call, status, { ...set, decidedAt: at, decidedBy: by }),
        where: { status: 'PENDING_APPROVAL', digest, approvalExpiresAt: is.above(at) },
      },
      ...also,
    ])
    if (outcome.ok) return { ...call, ...set, status, decidedAt: at, decidedBy: by }
  }
  throw await whyNot(call.id, digest, clock)
}

const isDecidable = (call: ToolCall, digest: string, clock: Clock): boolean =>
  call.status === 'PENDING_APPROVAL' && call.digest === digest && !hasExpired(call, clock)

const whyNot = async (callId: Id<'call'>, digest: string, clock: Clock): Promise<AppError> => {
  const call = await getCall(callId)
  if (
    call?.status === 'EXPIRED' ||
    (call?.status === 'PENDING_APPROVAL' && hasExpired(call, clock))
  )
    return new AppError('INVALID_STATE', 'The approval has expired; nothing ran.')
  if (call?.status === 'PENDING_APPROVAL' && call.digest !== digest)
    return new AppError(
      'DIGEST_MISMATCH',
      'The call is no longer the one that you saw. Read it again, then decide.',
      { details: { digest: call.digest } },
    )
  return new AppError(
    'INVALID_STATE',
    `The call does not wait for a decision: it is ${call?.status}.`,
  )
}
