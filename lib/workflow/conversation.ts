import { resultOf } from '../call/receipt.ts'
import { argumentsOf, CallResult, callIdAt, callKey, ToolCall } from '../call/tool-call.ts'
import { cut } from '../core/clip.ts'
import type { Id } from '../core/ids.ts'
import { loadLarge } from '../data/large.ts'
import { batchGet } from '../data/table.ts'
import { type ToolCallPart, toolCalls } from '../llm/message.ts'
import { type Entry, readWithSummaries, type Summary } from '../task/history.ts'

/**
 * A task's history with the records of all its calls. Of its beginning the model reads the latest
 * of the summaries, if there are any.
 */
export type Conversation = {
  entries: Entry[]
  calls: Map<Id<'call'>, ToolCall>
  summaries: Summary[]
}

/** Everything that a task has said and done: one query, and one batched read of its calls. */
export const readConversation = async (taskId: Id<'task'>): Promise<Conversation> => {
  const { entries, summaries } = await readWithSummaries(taskId)
  return { entries, calls: await readCalls(entries.flatMap(callIdsOf)), summaries }
}

/** The records of these calls that there are, in one batched read. */
export const readCalls = async (ids: Id<'call'>[]): Promise<Map<Id<'call'>, ToolCall>> => {
  const found = await batchGet(ids.map(callKey))
  return new Map(
    ids.flatMap(id => {
      const call = found.get(ToolCall, callKey(id))
      return call ? [[id, call]] : []
    }),
  )
}

/** Calls of one step that get a record: each costs a function's run and a dozen requests. */
export const MAX_CALLS_PER_STEP = 64

const TOO_MANY: CallResult = {
  isError: true,
  content: `This call did not run: a step makes at most ${MAX_CALLS_PER_STEP}. Make it again in the next one.`,
}

/** The calls that an entry's step asked for, in the model's order. */
export const partsOf = ({ content }: Entry): ToolCallPart[] =>
  content.role === 'assistant' ? toolCalls(content) : []

/** The ids of the calls that an entry's step asked for and that have a record, in order. */
export const callIdsOf = (entry: Entry): Id<'call'>[] =>
  partsOf(entry)
    .slice(0, MAX_CALLS_PER_STEP)
    .map((_, index) => callIdAt(entry.taskId, entry.seq, index))

/** What the model reads of each call of an entry's step; undefined where there is no answer yet. */
export const answersOf = (
  entry: Entry,
  calls: Conversation['calls'],
): Promise<(CallResult | undefined)[]> => {
  const ids = callIdsOf(entry)
  return Promise.all(
    partsOf(entry).map(async (_, index) => {
      const id = ids[index]
      return id === undefined ? TOO_MANY : answerOf(calls.get(id))
    }),
  )
}

/**
 * What the model reads of a call, once there is an answer: not before all its children ended, or
 * somebody answered its question.
 */
export const answerOf = async (call: ToolCall | undefined): Promise<CallResult | undefined> => {
  if (!call) return undefined
  const answer = call.answer ? await loadLarge(CallResult, call.answer) : await resultOf(call)
  if (!answer || (!call.answer && (answer.children || answer.question))) return undefined
  return call.editedBy ? { ...answer, content: await asEdited(call, answer.content) } : answer
}

/** What is told of the arguments that a person gave, in characters. */
const MAX_EDITED_CHARS = 2_000

/** An answer to something else than was asked has to say so. */
const asEdited = async (call: ToolCall, content: string): Promise<string> => {
  const given = cut(JSON.stringify(await argumentsOf(call)), MAX_EDITED_CHARS)
  return `[A person approved this call with other arguments, and this is what came of them: ${given}]\n\n${content}`
}
