import { CallResult, callIdAt, callKey, ToolCall } from '../call/tool-call.ts'
import type { Id } from '../core/ids.ts'
import { loadLarge } from '../data/large.ts'
import { batchGet } from '../data/table.ts'
import { type Message, toolCalls } from '../llm/message.ts'
import { type Entry, readHistory } from '../task/history.ts'

/** A task's history with the records of all its calls. */
export type Conversation = { entries: Entry[]; calls: Map<Id<'call'>, ToolCall> }

/** Everything that a task has said and done: one query, and one batched read of its calls. */
export const readConversation = async (taskId: Id<'task'>): Promise<Conversation> => {
  const entries = await readHistory(taskId)
  return { entries, calls: await readCalls(entries.flatMap(callIdsOf)) }
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

/** The ids of the calls that an entry's step asked for, in order. */
export const callIdsOf = (entry: Entry): Id<'call'>[] =>
  entry.content.role === 'assistant'
    ? toolCalls(entry.content).map((_, index) => callIdAt(entry.taskId, entry.seq, index))
    : []

/** The conversation as a model reads it; every call in it is followed by what it answered. */
export const messagesOf = async ({ entries, calls }: Conversation): Promise<Message[]> => {
  const messages = await Promise.all(
    entries.map(async (entry): Promise<Message[]> => {
      if (entry.content.role === 'user') return [entry.content]
      const parts = toolCalls(entry.content)
      if (parts.length === 0) return [entry.content]
      const answers = await Promise.all(callIdsOf(entry).map(async id => answerOf(calls.get(id))))
      const results = parts.map(({ toolCallId, toolName }, index) => ({
        toolCallId,
        toolName,
        text: answers[index]?.content ?? '',
        isError: answers[index]?.isError ?? true,
      }))
      return [entry.content, { role: 'tool', results }]
    }),
  )
  return messages.flat()
}

/** What the model reads of a call, once there is an answer: not before all its children ended. */
export const answerOf = async (call: ToolCall | undefined): Promise<CallResult | undefined> => {
  if (call?.answer) return loadLarge(CallResult, call.answer)
  const result = call?.result && (await loadLarge(CallResult, call.result))
  return result?.children ? undefined : result
}
