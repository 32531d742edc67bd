import type { CallResult, ToolCall } from '../call/tool-call.ts'
import { cut } from '../core/clip.ts'
import type { Id } from '../core/ids.ts'
import { textOf } from '../llm/message.ts'
import { stepsOf } from '../task/history.ts'
import { finalText, getTasks, type Task, TERMINAL } from '../task/task.ts'
import { answerOf, type Conversation, readConversation } from './conversation.ts'

/** How a task ended: well; by a limit, with what it had said by then; with nothing to show; badly. */
export type Outcome = 'completed' | 'partial' | 'degraded' | 'failed'

/**
 * What the platform knows of a task that another one has started: all of it from rows that no model
 * writes, but for the text.
 */
export type Report = {
  task_id: Id<'task'>
  agent_id: Id<'agent'>
  /** `done`, once nothing moves any more; before, whether it runs, waits, or waits for its turn. */
  state: 'queued' | 'running' | 'waiting' | 'done'
  /** The task's status; of one that has handed over, that of who goes on in its place. */
  status: Task['status']
  outcome?: Outcome
  outcome_reason?: string
  /** Who goes on, or went on, in its place. */
  handed_over_to?: Id<'task'>
  /** Calls that ran. */
  tool_calls: number
  /** Requests to a model that were answered. */
  rounds: number
  /** The media assets that its calls made. */
  media: Id<'media'>[]
  /** What it said at its end, or last. */
  text?: string
  text_chars?: number
}

/** A report on each of these tasks; of what each said, so many characters at most. */
export const reportsOf = async (taskIds: Id<'task'>[], maxTextChars: number): Promise<Report[]> => {
  const tasks = await getTasks(taskIds)
  return Promise.all(tasks.map(task => reportOf(task, maxTextChars)))
}

/** A report on a task, and on those that went on in its place, as of one. */
export const reportOf = async (task: Task, maxTextChars: number): Promise<Report> => {
  const line = await lineOf(task)
  const last = line.at(-1) ?? task
  const conversations = await Promise.all(line.map(({ id }) => readConversation(id)))
  const calls = conversations.flatMap(({ calls }) => [...calls.values()])
  const rounds = conversations.flatMap(({ entries }) => stepsOf(entries))
  const text = await lastWords(last, conversations.at(-1))
  return {
    task_id: task.id,
    agent_id: task.agentId,
    state: stateOf(last),
    status: last.status,
    ...outcomeOf(last, text),
    ...(last.id === task.id ? {} : { handed_over_to: last.id }),
    tool_calls: calls.filter(({ startedAt }) => startedAt !== undefined).length,
    rounds: rounds.length,
    media: await mediaOf(calls),
    ...(text.length > 0 && maxTextChars > 0 ? { text: cut(text, maxTextChars) } : {}),
    ...(text.length > maxTextChars ? { text_chars: text.length } : {}),
  }
}

/** A task and those that went on in its place, in order. */
const lineOf = async (task: Task): Promise<Task[]> => {
  if (task.handoverTo === undefined) return [task]
  const [next] = await getTasks([task.handoverTo])
  return next ? [task, ...(await lineOf(next))] : [task]
}

const stateOf = ({ status }: Task): Report['state'] => {
  if (TERMINAL.includes(status)) return 'done'
  if (status === 'QUEUED') return 'queued'
  return status === 'RUNNING' ? 'running' : 'waiting'
}

/** What ends a task that did well as far as it got. */
const LIMIT = /^(MAX_|ANSWER_CUT_OFF$)/
/** What ends one that got nowhere. */
const LOOP = 'DOOM_LOOP'

/** How a task ended, as its row has it: a model can say what it likes. */
export const outcomeOf = (
  { status, error }: Pick<Task, 'status' | 'error'>,
  text: string,
): { outcome?: Outcome; outcome_reason?: string } => {
  const hasText = text.trim() !== ''
  switch (status) {
    case 'COMPLETED':
      if (hasText) return { outcome: 'completed' }
      return { outcome: 'degraded', outcome_reason: 'NO_TEXT: It ended without a word.' }
    case 'FAILED': {
      const code = error?.code ?? 'FAILED'
      const outcome_reason = `${code}: ${error?.message ?? ''}`
      if (code === LOOP) return { outcome: 'degraded', outcome_reason }
      if (!LIMIT.test(code)) return { outcome: 'failed', outcome_reason }
      return { outcome: hasText ? 'partial' : 'degraded', outcome_reason }
    }
    case 'CANCELLED':
    case 'ABORTED':
      return { outcome: 'failed', outcome_reason: status }
    default:
      return {}
  }
}

const lastWords = async (task: Task, conversation: Conversation | undefined): Promise<string> => {
  const final = await finalText(task)
  if (final !== '' || !conversation) return final
  const said = conversation.entries.map(({ content }) =>
    content.role === 'assistant' ? textOf(content) : '',
  )
  return said.findLast(text => text.trim() !== '') ?? ''
}

const mediaOf = async (calls: ToolCall[]): Promise<Id<'media'>[]> => {
  const results = await Promise.all(calls.map(call => answerOf(call)))
  return [...new Set(results.flatMap((result: CallResult | undefined) => result?.media ?? []))]
}
