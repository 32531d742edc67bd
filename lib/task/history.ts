import * as z from 'zod'
import { type Id, idOf } from '../core/ids.ts'
import { Large, loadLarge, storeLarge } from '../data/large.ts'
import * as table from '../data/table.ts'
import { AssistantMessage, UserMessage } from '../llm/message.ts'

/** Of all requests that were made for a row, together. */
const Usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number().optional(),
})

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
  /** The children of whose ends it tells. */
  attention: z.array(idOf('task')).exactOptional(),
  createdAt: z.iso.datetime(),
  /** Of the model's answers: which model, why it stopped, what it used. */
  model: z.string().optional(),
  finishReason: z.string().optional(),
  usage: Usage.optional(),
  /** What that cost, in billionths of a dollar; absent where the model has no price. */
  cost: z.int().optional(),
  /** Answers with broken calls that came before this one, to the same request: for people to read. */
  discarded: Large.optional(),
})
export type HistoryRow = z.infer<typeof HistoryRow>

export type Entry = HistoryRow & { content: UserMessage | AssistantMessage }

/** The model's answers among the rows of a history: one for each step. */
export const stepsOf = <Row extends Pick<HistoryRow, 'role'>>(rows: readonly Row[]): Row[] =>
  rows.filter(({ role }) => role === 'assistant')

// Access patterns: a task's history in order. The key holds the place, so that a second tick's
// row for the same step finds it taken.
const SEQ_DIGITS = 6
export const historyKey = (taskId: Id<'task'>, seq: number): table.Key => ({
  pk: taskId,
  sk: `history#${String(seq).padStart(SEQ_DIGITS, '0')}`,
})

/**
 * What a model is told in the place of a history's beginning once it can't read all of it. The rows
 * themselves stay as they are.
 */
export const SummaryRow = z.object({
  taskId: idOf('task'),
  /** The place in the history that was to be written when it was made: each has one at most. */
  atSeq: z.int(),
  /** It stands for the rows before this place, and for the summary before it. */
  upTo: z.int(),
  summary: Large,
  createdAt: z.iso.datetime(),
  model: z.string(),
  usage: Usage,
  cost: z.int().optional(),
})
export type SummaryRow = z.infer<typeof SummaryRow>
export type Summary = SummaryRow & { text: string }

// They lie before all rows of the history, so that the same query reads both, and the last one is
// a row.
const summaryKey = (taskId: Id<'task'>, atSeq: number): table.Key => ({
  pk: taskId,
  sk: `history#!${String(atSeq).padStart(SEQ_DIGITS, '0')}`,
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

/** A task's whole history with its messages, in order. */
export const readHistory = async (taskId: Id<'task'>): Promise<Entry[]> =>
  (await readWithSummaries(taskId)).entries

/** The same, with all summaries that were made of it, the latest last. */
export const readWithSummaries = async (
  taskId: Id<'task'>,
): Promise<{ entries: Entry[]; summaries: Summary[] }> => {
  const rows = await table.queryAll(z.union([SummaryRow, HistoryRow]), {
    pk: taskId,
    prefix: 'history#',
  })
  return {
    entries: await Promise.all(rows.flatMap(row => ('upTo' in row ? [] : [entryOf(row)]))),
    summaries: await Promise.all(rows.flatMap(row => ('upTo' in row ? [withText(row)] : []))),
  }
}

/** Adds a summary, or returns the one that has its place. */
export const addSummary = async (
  row: Omit<SummaryRow, 'summary'>,
  text: string,
): Promise<Summary> => {
  const whole = { ...row, summary: await storeLarge(row.taskId, text) }
  const outcome = await table.insert(SummaryRow, whole, {
    key: summaryKey(row.taskId, row.atSeq),
  })
  return withText(outcome.item ?? whole)
}

const withText = async (row: SummaryRow): Promise<Summary> => ({
  ...row,
  text: await loadLarge(z.string(), row.summary),
})

const LAST = `history#${'9'.repeat(SEQ_DIGITS)}`

/** A row with its message. */
export const entryOf = async (row: HistoryRow): Promise<Entry> => ({
  ...row,
  content: await loadLarge(z.union([UserMessage, AssistantMessage]), row.message),
})
