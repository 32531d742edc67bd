import * as z from 'zod'
import { derivedId, type Id, idOf } from '../core/ids.ts'
import { DUE_ATTRIBUTES, dueIndex } from '../data/due.ts'
import { is } from '../data/expression.ts'
import { Large, loadLarge } from '../data/large.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { awaited } from '../notification/notice.ts'
import { PrincipalId } from '../principal/principal.ts'
import { Asked } from '../tool/result.ts'
import { EFFECTS } from '../tool/words.ts'

/** The life of a call; `FAILED` also ends what was refused before it ran. */
export const CallStatus = z.enum([
  'REQUESTED',
  'PENDING_APPROVAL',
  'APPROVED',
  'REJECTED',
  'EXPIRED',
  'STARTED',
  'COMPLETED',
  'FAILED',
  'UNKNOWN',
])
export type CallStatus = z.infer<typeof CallStatus>

/** The states that nothing leaves. */
export const ENDED: CallStatus[] = ['REJECTED', 'EXPIRED', 'COMPLETED', 'FAILED']

/** What came of a call: the text for the model, and what only people see. */
export const CallResult = z.object({
  isError: z.boolean(),
  content: z.string(),
  /** The error's code, where it is one of the platform's own. */
  code: z.string().optional(),
  data: z.unknown().optional(),
  media: z.array(idOf('media')).optional(),
  /** The tasks whose ends the answer waits for, as in the tool's `Result`, with what it says of them. */
  children: z.array(idOf('task')).optional(),
  waitUntil: z.iso.datetime().optional(),
  reports: z.boolean().optional(),
  isElsewhere: z.boolean().optional(),
  beside: z.array(idOf('task')).optional(),
  detached: z.array(idOf('task')).optional(),
  fetched: z.array(idOf('task')).optional(),
  handover: idOf('task').optional(),
  question: Asked.optional(),
})
export type CallResult = z.infer<typeof CallResult>

/** One request to run an operation, and its receipt. */
export const ToolCall = z.object({
  id: idOf('call'),
  status: CallStatus,
  agentId: idOf('agent'),
  principalId: PrincipalId,
  /** Where a task's step asked: the place in its history, and the place in the step. */
  taskId: idOf('task').optional(),
  rootId: idOf('task').optional(),
  seq: z.int().optional(),
  index: z.int().optional(),
  tool: z.string(),
  operation: z.string(),
  effect: z.enum(EFFECTS),
  /** The validated arguments that will run, or did. */
  arguments: Large,
  meta: z.record(z.string(), z.string()),
  /** One sentence for people, made once from the arguments. */
  description: z.string(),
  requiresApproval: z.boolean(),
  /** It takes longer than anyone awaits: it runs as an event, and its end is a wake. */
  isLong: z.literal(true).exactOptional(),
  /** What a decision must repeat; present where approval is asked for. */
  digest: z.string().optional(),
  approvalExpiresAt: z.iso.datetime().optional(),
  decidedAt: z.iso.datetime().optional(),
  decidedBy: z.string().optional(),
  /** Who approved it with other arguments than the agent's. */
  editedBy: z.string().optional(),
  /** Who made a call outside of tasks: a user or an agent. A task knows who started it. */
  startedBy: z.string().optional(),
  createdAt: z.iso.datetime(),
  startedAt: z.iso.datetime().optional(),
  /** Past it, a started call that hasn't ended is taken for dead. */
  deadlineAt: z.iso.datetime().optional(),
  /** How often it was started; absent, once at most. */
  runs: z.int().optional(),
  endedAt: z.iso.datetime().optional(),
  result: Large.optional(),
  /** What the model reads once all children have ended, or a person has answered; until then the call waits. */
  answer: Large.optional(),
  /** What a person is asked, and until when. */
  question: z
    .object({ text: z.string(), options: z.array(z.string()).optional(), until: z.iso.datetime() })
    .optional(),
  answeredBy: z.string().optional(),
  answeredAt: z.iso.datetime().optional(),
  /** Who said what came of a call of which nobody knew. */
  settledBy: z.string().optional(),
  /** Digest of the request that made the record, for Idempotency-Key. */
  requestHash: z.string().optional(),
  claim: z.string().optional(),
})
export type ToolCall = z.infer<typeof ToolCall>

// Access patterns: one call by id, under a leading key of its own, since an operation's role may
// write calls and nothing else; what waits for a principal's decision, newest first.
// Calls outside of tasks that are approved, or may have had an effect, are in the list of what is
// due (`data/due.ts`).
export const callKey = (id: Id<'call'>): table.Key => ({ pk: id, sk: 'call' })

/** The id of the call at a place of a task's history: a second tick finds it taken. */
export const callIdAt = (taskId: Id<'task'>, seq: number, index: number): Id<'call'> =>
  derivedId('call', taskId, seq, index)

const waitingIndex = (call: Pick<ToolCall, 'id' | 'principalId' | 'createdAt'>) => ({
  gsi2pk: call.principalId,
  gsi2sk: `${call.createdAt}#${call.id}`,
})
/** What only a person can move on: a decision is asked for, an answer, or what came of a run. */
export const waitsOnAPerson = (call: ToolCall): boolean => awaited(call) !== undefined
/** How long the event that has a call run may take before the sweeper sends another. */
export const EVENT_GRACE_MS = 60_000
const WAITING_ATTRIBUTES = ['gsi2pk', 'gsi2sk']

/** The arguments that will run, or did. */
export const argumentsOf = (call: ToolCall): Promise<Record<string, unknown>> =>
  loadLarge(z.record(z.string(), z.unknown()), call.arguments)

export const getCall = (id: Id<'call'>) => table.get(ToolCall, callKey(id))

/** Makes a call, and tells of it by `notices` or, where those are recorded already, by itself. */
export const createCall = async (
  call: ToolCall,
  { also = [], notices = [] }: { also?: TransactionWrite[]; notices?: TransactionWrite[] } = {},
): Promise<table.Outcome<ToolCall>> => {
  const made = [newCall(call), ...notices]
  // What rides along is no reason to fail: where it can't be written, the call is by itself.
  if (also.length > 0 && (await transact([...made, ...also])).ok) return { ok: true, item: call }
  if (notices.length > 0 && (await transact(made)).ok) return { ok: true, item: call }
  return table.insert(ToolCall, call, placeOf(call))
}

/** The making of a call as a part of a transaction. */
export const newCall = (call: ToolCall): TransactionWrite => ({ insert: call, ...placeOf(call) })

const placeOf = (call: ToolCall) => ({ key: callKey(call.id), indexes: indexesOf(call) })

/** A principal's calls that wait on a person. The index may lag: deciding reads the call. */
export const listWaiting = (principalId: PrincipalId, page: { limit: number; cursor?: string }) =>
  table.query(ToolCall, { index: 'gsi2', pk: principalId, newestFirst: true, ...page })

/**
 * Moves a call on if it is in one of these states. `claim` makes the move one that an earlier,
 * unanswered attempt may have made already; `notices` are recorded with it, unless they already are.
 */
export const moveCall = async (
  call: ToolCall,
  from: CallStatus[],
  to: CallStatus,
  {
    set = {},
    remove = [],
    where = {},
    claim,
    notices = [],
  }: {
    set?: Partial<ToolCall>
    remove?: (keyof ToolCall)[]
    where?: object
    claim?: string
    notices?: TransactionWrite[]
  } = {},
): Promise<table.Outcome<ToolCall>> => {
  const key = callKey(call.id)
  const update = moveChange(call, to, set, remove)
  const condition = { status: is.oneOf(from), ...where }
  if (notices.length > 0 && (await transact([{ key, update, where: condition }, ...notices])).ok) {
    const item = await getCall(call.id)
    if (item) return { ok: true, item }
  }
  return table.update(ToolCall, key, update, { where: condition, ...(claim ? { claim } : {}) })
}

/** The change that a move writes: it puts the call into the lists where it belongs by now. */
export const moveChange = (
  call: ToolCall,
  to: CallStatus,
  set: Partial<ToolCall> = {},
  remove: (keyof ToolCall)[] = [],
) => {
  const indexes = indexesOf({ ...call, ...set, status: to })
  const left = [...WAITING_ATTRIBUTES, ...DUE_ATTRIBUTES].filter(name => !(name in indexes))
  return { set: { ...set, status: to, ...indexes }, remove: [...remove, ...left] }
}

const indexesOf = (call: ToolCall): Record<string, string> => {
  const due = dueAt(call)
  return {
    ...(waitsOnAPerson(call) ? waitingIndex(call) : {}),
    ...(due === undefined ? {} : dueIndex(call.id, due)),
  }
}

/**
 * When the sweeper looks after a call that no task waits for: one that nobody decides about, one
 * that an event is to run, and one that may have had an effect before its function died. Of a mere
 * read whoever asked asks again.
 */
const dueAt = (call: ToolCall): string | undefined => {
  if (call.taskId !== undefined) return undefined
  const { status, effect, decidedAt, deadlineAt, isLong, createdAt } = call
  if (status === 'PENDING_APPROVAL') return call.approvalExpiresAt
  if (status === 'STARTED') return decidedAt || effect !== 'read' ? deadlineAt : undefined
  const since = status === 'APPROVED' ? decidedAt : isLong && createdAt
  if ((status !== 'APPROVED' && status !== 'REQUESTED') || !since) return undefined
  return new Date(Date.parse(since) + EVENT_GRACE_MS).toISOString()
}
