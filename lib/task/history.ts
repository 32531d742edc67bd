import * as z from 'zod'
import { type Id, idOf } from '../core/ids.ts'
import { Large, loadLarge, storeLarge } from '../data/large.ts'
import * as table from '../data/table.ts'
import { AssistantMessage, UserMessage } from '../llm/message.ts'

/**
 * One row of a task's history: what a user said, or what the model answered in one step. What
 * tools answered stands in the calls' own records, and is read from there.
 */
export const HistoryRow = z.object({
  taskId: idOf('task'),
  /** The place in the history, from 0; a step's calls take their ids from it. */
  seq: z.int(),
  role: z.enum(['user', 'assistant']),
  message: Large,
  /** Of a user's message: the platform itself says it; absent, whoever asked. */
  origin: z.literal('platform').exactOptional(),
  createdAt: z.iso.datetime(),
  /** Of the model's answers: which model, why it stopped, what it used. */
  model: z.string().optional(),
  finishReason: z.string().optional(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number() }).optional(),
})
export type HistoryRow = z.infer<typeof HistoryRow>
  /** The children of whose ends it tells. */
  attention: z.array(idOf('task')).exactOptional(),

export type Entry = HistoryRow & { content: UserMessage | AssistantMessage }

// Access patterns: a task's history in order. The key holds the place, so that a second tick's
// row for the same step finds it taken.
const SEQ_DIGITS = 6
export const historyKey = (taskId: Id<'task'>, seq: number): table.Key => ({
  pk: taskId,
  sk: `history#${String(seq).padStart(SEQ_DIGITS, '0')}`,
})

type NewRow = Omit<HistoryRow, 'message' | 'role'>

/** A row ready to be inserted; a long message goes to the bucket first. */
export const historyRow = async (
  row: NewRow,
  message: UserMessage | AssistantMessage,
): Promise<HistoryRow> => ({
  ...row,
  role: message.role,
  message: await storeLarge(row.taskId, message),
})

/** Adds a row, or returns false where its place is taken. */
export const append = async (
  row: NewRow,
  message: UserMessage | AssistantMessage,
): Promise<boolean> => {
  const whole = await historyRow(row, message)
  return (await table.insert(HistoryRow, whole, { key: historyKey(row.taskId, row.seq) })).ok
}

/** The last row of a task's history with its message. */
export const lastEntry = async (taskId: Id<'task'>): Promise<Entry | undefined> => {
  const last = { pk: taskId, prefix: 'history#', newestFirst: true, limit: 1 }
  const [row] = (await table.query(HistoryRow, last)).items
  return row && entryOf(row)
}

/** The entries of a task's history from a place on, in order: so many at most. */
export const readEntries = async (
  taskId: Id<'task'>,
  { from, limit }: { from: number; limit: number },
): Promise<Entry[]> => {
  const between = [historyKey(taskId, from).sk, LAST] as const
  const { items } = await table.query(HistoryRow, { pk: taskId, between, limit })
  return Promise.all(items.map(entryOf))
}

const LAST = `history#${'9'.repeat(SEQ_DIGITS)}`

/** A task's whole history with its messages, in order. */
export const readHistory = async (taskId: Id<'task'>): Promise<Entry[]> => {
  const rows = await table.queryAll(HistoryRow, { pk: taskId, prefix: 'history#' })
  return Promise.all(rows.map(entryOf))
}

/** A row with its message. */
export const entryOf = async (row: HistoryRow): Promise<Entry> => ({
  ...row,
  content: await loadLarge(z.union([UserMessage, AssistantMessage]), row.message),
})
