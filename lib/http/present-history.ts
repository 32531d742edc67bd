import * as z from 'zod'
import type { CallResult, ToolCall } from '../call/tool-call.ts'
import { cut } from '../core/clip.ts'
import { bytesOf, loadLarge } from '../data/large.ts'
import { AssistantMessage, textOf, toolCalls } from '../llm/message.ts'
import { usdOf } from '../llm/price.ts'
import type { Entry } from '../task/history.ts'
import { answersOf, type Conversation, callIdsOf, partsOf } from '../workflow/conversation.ts'
import { createRoom, MAX_ANSWER_BYTES } from './room.ts'
import { CallId, TaskId, Time } from './wire.ts'

/** What is shown of a text in an entry that is too long for any page, in characters. */
const MAX_CLIPPED_CHARS = 10_000

/**
 * A page of a conversation as rows, from an entry on: what tools answered stands after the step
 * that asked. A page ends where there is no more room, and `next` says where the rest begins. An
 * entry that no page has room for is shown with its texts clipped.
 */
export const presentHistory = async (
  { entries, calls }: Conversation,
  { from, limit }: { from: number; limit: number },
): Promise<{ rows: HistoryRow[]; next: number | undefined }> => {
  const room = createRoom()
  const rows: HistoryRow[] = []
  for (const [index, entry] of entries.entries()) {
    if (index < from) continue
    const answered = callIdsOf(entry).flatMap(id => calls.get(id) ?? [])
    const fits = room.take(bytesOf(entry.message) + sum(answered.map(bytesOfAnswer)))
    if (index - from === limit || (!fits && index > from)) return { rows, next: index }
    const entryRows = await rowsOf(entry, calls)
    rows.push(...(fits ? entryRows : entryRows.map(clipped)))
  }
  return { rows, next: undefined }
}

const CallText = z.object({
  call_id: CallId.optional(),
  tool: z.string(),
  arguments: z.string().describe('As the model wrote them.'),
})

export const HistoryRow = z
  .object({
    seq: z
      .int()
      .describe('The place of what was said, from 0; of a tool’s answer, that of who asked.'),
    role: z.enum(['user', 'assistant', 'tool']),
    text: z.string(),
    created_at: Time.optional(),
    origin: z
      .literal('platform')
      .optional()
      .describe('The platform said it itself, to the model; no person did.'),
    attention: z.array(TaskId).optional().describe('The sub-agents’ tasks of whose ends it tells.'),
    truncated: z.literal(true).optional().describe('Texts of the row were cut.'),
    tool_calls: z.array(CallText).optional(),
    model: z.string().nullable().optional(),
    finish_reason: z.string().nullable().optional(),
    usage: z
      .object({
        input_tokens: z.int(),
        output_tokens: z.int(),
        cost_usd: z.number().nullable().describe('US dollars; null without a price.'),
      })
      .optional()
      .describe('Of all requests that were made for this answer.'),
    discarded_calls: z
      .array(CallText.omit({ call_id: true }))
      .optional()
      .describe('Malformed calls of earlier answers to the same request: it was made again.'),
    call_id: CallId.optional().describe('Absent of a call that was too many for its step.'),
    tool: z.string().optional(),
    is_error: z.boolean().optional(),
  })
  .meta({ id: 'HistoryRow', description: 'A prompt, what the model said, or a tool’s answer.' })
export type HistoryRow = z.infer<typeof HistoryRow>

const rowsOf = async (entry: Entry, calls: Conversation['calls']): Promise<HistoryRow[]> => [
  { ...saidRow(entry), ...(await discardedOf(entry)) },
  ...(await answersOf(entry, calls)).flatMap((answer, index) =>
    answer ? answerRow(entry, index, answer) : [],
  ),
]

/** What was said, as a row. */
const saidRow = (entry: Entry): HistoryRow => {
  const { seq, content, createdAt: created_at } = entry
  if (content.role === 'user') {
    const { origin, attention } = entry
    const said = { ...(origin ? { origin } : {}), ...(attention ? { attention } : {}) }
    return { seq, role: 'user', text: content.text, ...said, created_at }
  }
  const ids = callIdsOf(entry)
  return {
    seq,
    role: 'assistant',
    text: textOf(content),
    tool_calls: toolCalls(content).map(({ toolName, input }, index) => ({
      call_id: ids[index],
      tool: toolName,
      arguments: input,
    })),
    model: entry.model ?? null,
    finish_reason: entry.finishReason ?? null,
    ...(entry.usage ? { usage: presentPaid(entry.usage, entry.cost) } : {}),
    created_at,
  }
}

const presentPaid = (
  { inputTokens, outputTokens }: NonNullable<Entry['usage']>,
  cost: number | undefined,
): NonNullable<HistoryRow['usage']> => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  cost_usd: cost === undefined ? null : usdOf(cost),
})

/** The calls for which a step's answer was asked for again, as the model wrote them. */
const discardedOf = async ({ discarded }: Entry): Promise<Pick<HistoryRow, 'discarded_calls'>> => {
  if (!discarded) return {}
  const answers = await loadLarge(z.array(AssistantMessage), discarded)
  const broken = answers.flatMap(toolCalls).filter(({ state }) => state !== 'complete')
  return {
    discarded_calls: broken.map(({ toolName, input }) => ({
      tool: toolName,
      arguments: cut(input, MAX_CLIPPED_CHARS),
    })),
  }
}

/** What the call at an index of an entry's step has answered, as a row. */
const answerRow = (entry: Entry, index: number, answer: CallResult): HistoryRow => {
  return {
    seq: entry.seq,
    role: 'tool',
    call_id: callIdsOf(entry)[index],
    tool: partsOf(entry)[index]?.toolName ?? '',
    text: answer.content,
    is_error: answer.isError,
  }
}

/** What was said, as a row by itself: its texts are cut where it is too long for any answer. */
export const presentSaid = (entry: Entry): HistoryRow => fitting(saidRow(entry))

/** A tool's answer, as a row by itself. */
export const presentAnswer = (entry: Entry, index: number, answer: CallResult): HistoryRow =>
  fitting(answerRow(entry, index, answer))

const fitting = (row: HistoryRow): HistoryRow =>
  Buffer.byteLength(JSON.stringify(row)) > MAX_ANSWER_BYTES ? clipped(row) : row

const clipped = (row: HistoryRow): HistoryRow => ({
  ...row,
  text: cut(row.text, MAX_CLIPPED_CHARS),
  ...(row.tool_calls
    ? {
        tool_calls: row.tool_calls.map(call => ({
          ...call,
          arguments: cut(call.arguments, MAX_CLIPPED_CHARS),
        })),
      }
    : {}),
  truncated: true,
})

const bytesOfAnswer = ({ answer, result }: ToolCall): number => {
  const stored = answer ?? result
  return stored ? bytesOf(stored) : 0
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0)
