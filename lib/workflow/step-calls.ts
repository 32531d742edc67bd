import type { Agent } from '../agent/agent.ts'
import { type Admission, admit, gateKeys } from '../call/gate.ts'
import { invokeOperation } from '../call/invoke.ts'
import { proposeCall, refusedCall } from '../call/propose.ts'
import { mayStart } from '../call/receipt.ts'
import { callIdAt, getCall, newCall, type ToolCall } from '../call/tool-call.ts'
import { clip } from '../core/clip.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { AppError, isRefusal } from '../core/errors.ts'
import { wellFormed } from '../core/well-formed.ts'
import { batchGet } from '../data/table.ts'
import { transact } from '../data/transact.ts'
import { type ToolCallPart, toolCalls } from '../llm/message.ts'
import type { Entry } from '../task/history.ts'
import { type Task, taskKey } from '../task/task.ts'
import { MAX_AWAITED_SECONDS } from '../tool/options.ts'
import { splitArguments } from '../tool/schema.ts'
import { callIdsOf, readCalls } from './conversation.ts'
import { type Offers, searchCall } from './discovery.ts'
import { held, LEASE_LOST } from './lease.ts'
import type { Catalogue } from './offer.ts'

/**
 * A call is begun only where its operation's longest time would still fit, with what its function
 * has beyond that.
 */
export const CALL_RESERVE_MS = MAX_AWAITED_SECONDS * 1_000 + 35_000

type Step = { task: Task; agent: Agent; entry: Entry; catalogue: Catalogue; offers: Offers }

/**
 * Brings a step's calls as far as they get on their own: those that have no record yet pass the
 * gate and get one, those that may run are run by their operations' functions, in the model's
 * order. Returns the records as they then are, or undefined where there was no time for all.
 */
export const runStepCalls = async (
  step: Step,
  remainingMs: () => number,
  clock: Clock = systemClock,
): Promise<ToolCall[] | undefined> => {
  const { entry } = step
  const parts = entry.content.role === 'assistant' ? toolCalls(entry.content) : []
  const ids = callIdsOf(entry)
  const known = await readCalls(ids)
  for (const [index, part] of parts.entries()) {
    const id = ids[index]
    const seen = id && known.get(id)
    if (id === undefined || (seen && !mayStart(seen, clock))) continue
    if (remainingMs() < CALL_RESERVE_MS) return undefined
    const call = seen ?? (await recordCall(step, part, index, clock))
    if (mayStart(call, clock)) await invokeOperation(call)
  }
  const after = await readCalls(ids)
  return ids.flatMap(id => after.get(id) ?? [])
}

/** Makes the record of one call: what passed the gate, or why it didn't. */
const recordCall = async (
  { task, agent, entry, catalogue, offers }: Step,
  part: ToolCallPart,
  index: number,
  clock: Clock,
): Promise<ToolCall> => {
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
    const values = argumentsOf(part)
    if (offers.isSearch(part.toolName))
      return await writeCall(task, await searchCall(origin, asked, { catalogue, values }, clock))
    if (!offer) throw unknownTool(part.toolName, catalogue)
    const { tool, enabled, fromWire } = offer
    const { operation, rest } = splitArguments(tool, enabled, fromWire(values))
    asked.operation = operation ?? ''
    const found = await batchGet(gateKeys(tool.name, agent.id, agent.principalId))
    const admission = admit({ agent, tool, operation, values: rest, found })
    if (admission.operation.endsTask && callIdsOf(entry).length > 1) throw notAlone(admission)
    return await writeCall(task, await proposeCall(origin, admission, clock))
  } catch (error) {
    // A fault of the platform is no answer to the model: the tick is tried again.
    if (!isRefusal(error)) throw error
    const refusal = { content: error.message, code: error.code }
    return writeCall(task, refusedCall(origin, asked, refusal, clock))
  }
}

/**
 * Writes a call's record, or finds the one that is there. A task that was cancelled, or that
 * another tick has taken, gets none: whoever ends a task finds every call that could still start.
 */
const writeCall = async (task: Task, call: ToolCall): Promise<ToolCall> => {
  const outcome = await transact([newCall(call), { check: taskKey(task.id), where: held(task) }])
  if (outcome.ok) return call
  const known = outcome.failed.includes(1) ? undefined : await getCall(call.id)
  if (!known) throw LEASE_LOST
  return known
}

/** A call's arguments; one that is broken never runs, and the model is told what was wrong. */
const argumentsOf = ({ input, state }: ToolCallPart): Record<string, unknown> => {
  switch (state) {
    case 'complete':
      return wellFormed(JSON.parse(input))
    case 'cut-off':
      throw new AppError(
        'BAD_REQUEST',
        `The call arrived cut off after ${input.length} characters and did not run. Make it again with less in one go.`,
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
  return new AppError('NOT_FOUND', `There is no tool "${name}". You have: ${names}.`)
}
