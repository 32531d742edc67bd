import type { Agent } from '../agent/agent.ts'
import { type Admission, admit, gateKeys } from '../call/gate.ts'
import { invokeOperation } from '../call/invoke.ts'
import { proposeCall, refusedCall } from '../call/propose.ts'
import { mayStart } from '../call/receipt.ts'
import { callIdAt, getCall, newCall, type ToolCall } from '../call/tool-call.ts'
import { clip } from '../core/clip.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { AppError, isRefusal } from '../core/errors.ts'
import { didYouMean } from '../core/nearest.ts'
import { wellFormed } from '../core/well-formed.ts'
import { batchGet } from '../data/table.ts'
import { transact } from '../data/transact.ts'
import type { ToolCallPart } from '../llm/message.ts'
import { announce } from '../notification/announce.ts'
import { outboxWrites } from '../notification/outbox.ts'
import type { Entry } from '../task/history.ts'
import { type Task, taskKey } from '../task/task.ts'
import { MAX_AWAITED_SECONDS } from '../tool/options.ts'
import { splitArguments } from '../tool/schema.ts'
import { callIdsOf, partsOf, readCalls } from './conversation.ts'
import { type Offers, searchCall } from './discovery.ts'
import { held, LEASE_LOST } from './lease.ts'
import type { Catalogue } from './offer.ts'

/**
 * A call is begun only where its operation's longest time would still fit, with what its function
 * has beyond that.
 */
export const CALL_RESERVE_MS = MAX_AWAITED_SECONDS * 1_000 + 35_000

type Step = { task: Task; agent: Agent; entry: Entry; catalogue: Catalogue; offers: Offers }

/** Calls of one step that run side by side: each takes a function of the account's concurrency. */
export const MAX_CALLS_AT_ONCE = 8

/**
 * Brings a step's calls as far as they get on their own: those that have no record yet pass the
 * gate and get one; those that may run are run by their operations' functions, in the model's
 * order, and side by side where they only read. Returns the records as they then are, or undefined
 * where there was no time for all.
 */
export const runStepCalls = async (
  step: Step,
  remainingMs: () => number,
  clock: Clock = systemClock,
): Promise<ToolCall[] | undefined> => {
  const { entry } = step
  const parts = partsOf(entry)
  const ids = callIdsOf(entry)
  const known = await readCalls(ids)
  const calls: ToolCall[] = []
  for (const [index, id] of ids.entries()) {
    const part = parts[index]
    const seen = known.get(id)
    if (!seen && remainingMs() < CALL_RESERVE_MS) return undefined
    if (seen) calls.push(seen)
    else if (part) calls.push(await recordCall(step, part, index, clock))
  }
  const ready = calls.filter(call => mayStart(call, clock))
  for (const group of groupsOf(ready)) {
    if (remainingMs() < CALL_RESERVE_MS) return undefined
    await Promise.all(group.map(call => invokeOperation(call)))
  }
  if (ready.length === 0) return calls
  const after = await readCalls(ids)
  return ids.flatMap(id => after.get(id) ?? [])
}

/** Calls that may run side by side, in order: what only reads does; each other call is by itself. */
const groupsOf = (calls: ToolCall[]): ToolCall[][] => {
  const groups: ToolCall[][] = []
  for (const call of calls) {
    const last = groups.at(-1)
    const fits = last && last.length < MAX_CALLS_AT_ONCE && [...last, call].every(isRead)
    if (fits) last.push(call)
    else groups.push([call])
  }
  return groups
}

const isRead = ({ effect }: ToolCall): boolean => effect === 'read'

/** Makes the record of one call: what passed the gate, or why it didn't. */
const recordCall = async (
  step: Step,
  part: ToolCallPart,
  index: number,
  clock: Clock,
): Promise<ToolCall> => {
  const { task, agent, entry, catalogue, offers } = step
  const origin = {
    id: callIdAt(task.id, entry.seq, index),
    meta: {},
    taskId: task.id,
    rootId: task.rootId,
    seq: entry.seq,
    index,
  }
  const offer = offers.named(part.toolName)
  const asked = {
    agentId: agent.id,
    principalId: agent.principalId,
    tool: offer?.tool.name ?? part.toolName,
    operation: '',
  }
  try {
    const values = argumentsOf(part, entry)
    if (offers.isSearch(part.toolName))
      return await writeCall(
        step,
        await searchCall(origin, asked, { catalogue, values }, clock),
        clock,
      )
    if (!offer) throw unknownTool(part.toolName, catalogue)
    const { tool, enabled, fromWire } = offer
    const { operation, rest } = splitArguments(tool, enabled, fromWire(values))
    asked.operation = operation ?? ''
    const found = await batchGet(gateKeys(tool.name, agent.id, agent.principalId))
    const admission = admit({ agent, tool, operation, values: rest, found })
    if (admission.operation.endsTask && callIdsOf(entry).length > 1) throw notAlone(admission)
    return await writeCall(step, await proposeCall(origin, admission, clock), clock)
  } catch (error) {
    // A fault of the platform is no answer to the model: the tick is tried again.
    if (!isRefusal(error)) throw error
    const refusal = { content: error.message, code: error.code }
    return writeCall(step, refusedCall(origin, asked, refusal, clock), clock)
  }
}

/**
 * Writes a call's record, or finds the one that is there. A task that was cancelled, or that
 * another tick has taken, gets none: whoever ends a task finds every call that could still start.
 */
const writeCall = async (
  { task, agent }: Pick<Step, 'task' | 'agent'>,
  call: ToolCall,
  clock: Clock,
): Promise<ToolCall> => {
  const notices = await outboxWrites({ type: 'call.waiting', call, agentName: agent.name }, clock)
  const holds = { check: taskKey(task.id), where: held(task) }
  const outcome = await transact([newCall(call), holds, ...notices])
  if (outcome.ok) {
    await announce(notices)
    return call
  }
  const known = outcome.failed.includes(1) ? undefined : await getCall(call.id)
  if (!known) throw LEASE_LOST
  return known
}

/** A call's arguments; one that is broken never runs, and the model is told what was wrong. */
const argumentsOf = ({ input, state }: ToolCallPart, entry: Entry): Record<string, unknown> => {
  switch (state) {
    case 'complete':
      return wellFormed(JSON.parse(input))
    case 'cut-off':
      throw new AppError(
        'BAD_REQUEST',
        `The call arrived cut off after ${input.length} characters and did not run.${allowanceSpent(entry)} Make it again with less in one go.`,
      )
    case 'malformed':
      throw new AppError(
        'BAD_REQUEST',
        `The arguments are not valid JSON (${parserComplaint(input)}), so nothing ran. Send one JSON object; a tool without required parameters takes {}.`,
      )
    default:
      return state satisfies never
  }
}

/**
 * What an answer may have at most, where it is plain that this one had it: the provider says that
 * it stopped for its length, and how long it was.
 */
const allowanceSpent = ({ finishReason, usage, discarded }: Entry): string =>
  finishReason === 'length' && usage && usage.outputTokens > 0 && !discarded
    ? ` The answer had spent all of the ${usage.outputTokens} tokens that one may have.`
    : ''

/** What stands beside it would be left without anyone to read its answer. */
const notAlone = ({ operation }: Admission): AppError =>
  new AppError(
    'BAD_REQUEST',
    `"${operation.name}" ends this task, so it must be the only call of its step; it did not run. Make it again, alone, once all other calls are answered.`,
  )

const parserComplaint = (text: string): string => {
  try {
    JSON.parse(text)
    return 'not an object'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** What is told of the names that there are, in characters. */
const MAX_NAMES_CHARS = 1_000

const unknownTool = (name: string, catalogue: Catalogue): AppError => {
  const names = clip([...catalogue.keys()].join(', ') || 'none', MAX_NAMES_CHARS)
  const near = didYouMean(name, [...catalogue.keys()])
  return new AppError('NOT_FOUND', `There is no tool "${name}".${near} You have: ${names}.`)
}
