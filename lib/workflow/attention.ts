import type { ToolCall } from '../call/tool-call.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import { small } from '../data/large.ts'
import { ATTENTION } from '../llm/message.ts'
import { append, type Entry } from '../task/history.ts'
import { listOpen } from '../task/open-children.ts'
import { getTasks, lastInLine, type Task, TERMINAL } from '../task/task.ts'
import { cancelBelow } from './cancel.ts'
import { answerOf, type Conversation } from './conversation.ts'
import { LEASE_LOST } from './lease.ts'
import { type Report, reportOf } from './report.ts'

/** Children that one message tells of at most; the next one tells of more. */
const MAX_TOLD = 100
/**
 * How long a task whose model has come to its end waits for more of its children after one has
 * ended: then it hears of that one, whatever the others do.
 */
export const ATTENTION_PATIENCE_MS = 5 * 60_000

type Hearing = { task: Task; conversation: Conversation }

/** What of a task's children it hears next: a message of its history, or how long it waits for one. */
export type Heard = { entry: Entry } | { until?: string }

/** Before a model request: tells of the children that have ended and that nobody has told of. */
export const hearOfChildren = async (
  { task, conversation }: Hearing,
  clock: Clock = systemClock,
): Promise<Entry | undefined> => {
  const untold = await untoldOf(conversation)
  if (untold.length === 0) return undefined
  const ended = await endedOf(task, untold)
  return ended.length === 0 ? undefined : tell({ task, conversation }, ended, clock)
}

/**
 * Where the model has come to its end: what it still has to hear first, or how long the task waits
 * for that. Undefined where no child is left that it would hear of, or where it may take no step
 * more: then those that still run are cancelled, since nobody would ever read what they say.
 */
export const hearAtEnd = async (
  { task, conversation }: Hearing,
  isOver: () => Promise<boolean>,
  clock: Clock = systemClock,
): Promise<Heard | undefined> => {
  const untold = await untoldOf(conversation)
  if (untold.length === 0) return undefined
  if (await isOver()) {
    await cancelBelow({ ...task, status: 'COMPLETED' }, clock)
    return undefined
  }
  const ended = await endedOf(task, untold)
  const first = ended.map(({ at }) => at).sort()[0]
  const until = first && new Date(Date.parse(first) + ATTENTION_PATIENCE_MS).toISOString()
  if (ended.length < untold.length && !(until && until <= isoNow(clock)))
    return until ? { until } : {}
  return { entry: await tell({ task, conversation }, ended, clock) }
}

/**
 * The children that run, or ran, beside a task, and of whose ends neither a message nor the answer
 * to a call has told. All of that stands in its history, so that each is told of once.
 */
const untoldOf = async ({ entries, calls }: Conversation): Promise<Id<'task'>[]> => {
  const said = await Promise.all([...calls.values()].map(saidBy))
  const told = new Set([
    ...entries.flatMap(({ attention }) => attention ?? []),
    ...said.flatMap(({ fetched }) => fetched),
  ])
  return [...new Set(said.flatMap(({ beside }) => beside))].filter(id => !told.has(id))
}

type Said = { beside: Id<'task'>[]; fetched: Id<'task'>[] }

/** A record is read anew where it has changed. */
const known = new WeakMap<ToolCall, Said>()

const saidBy = async (call: ToolCall): Promise<Said> => {
  const before = known.get(call)
  if (before) return before
  const { beside = [], fetched = [] } = (await answerOf(call)) ?? {}
  const said = { beside, fetched }
  known.set(call, said)
  return said
}

type Ended = { task: Task; at: string }

/** Of these children, those that have ended, and whoever went on in their places as well. */
const endedOf = async ({ id }: Task, children: Id<'task'>[]): Promise<Ended[]> => {
  const open = new Set(await listOpen(id))
  const tasks = await getTasks(children.filter(child => !open.has(child)))
  const last = await lastInLine(tasks)
  return tasks.flatMap((task, index) => {
    const end = last[index]
    return end && TERMINAL.includes(end.status) ? { task, at: end.endedAt ?? end.updatedAt } : []
  })
}

/** Adds the message to the history, on condition that no other tick has taken its place. */
const tell = async (
  { task, conversation }: Hearing,
  ended: Ended[],
  clock: Clock,
): Promise<Entry> => {
  const told = ended.slice(0, MAX_TOLD)
  const reports = await Promise.all(told.map(({ task }) => reportOf(task, 0)))
  const content = { role: 'user' as const, text: wordsOf(reports) }
  const row = {
    taskId: task.id,
    seq: conversation.entries.length,
    createdAt: isoNow(clock),
    origin: 'platform' as const,
    attention: told.map(({ task }) => task.id),
  }
  if (!(await append(row, content))) throw LEASE_LOST
  return { ...row, role: 'user', message: small(null), content }
}

/** Nothing of what a child said stands here: in the place of a person's words it could command. */
const wordsOf = (reports: Report[]): string =>
  [
    `${ATTENTION} ${reports.length === 1 ? 'A sub-agent has' : `${reports.length} sub-agents have`} ended. What each said: subagent_result.`,
    ...reports.map(lineOf),
  ].join('\n')

const lineOf = ({ task_id, agent_id, outcome, ...report }: Report): string =>
  [
    `- ${task_id} of ${agent_id}: ${outcome}`,
    // Its code: the words after it may repeat a call that the child's model made.
    ...(report.outcome_reason?.split(':').slice(0, 1) ?? []),
    `${report.tool_calls} tool calls`,
    `${report.rounds} rounds`,
    ...(report.media.length > 0 ? [`media ${report.media.join(', ')}`] : []),
  ].join('; ')
