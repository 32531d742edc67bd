import { shortenText } from '../call/shorten.ts'
import { type CallResult, callKey, ToolCall } from '../call/tool-call.ts'
import { type Clock, isoNow } from '../core/clock.ts'
import { is } from '../data/expression.ts'
import { storeLarge } from '../data/large.ts'
import * as table from '../data/table.ts'
import { noneLeft } from '../task/open-children.ts'
import { finalText, lastInLine, type Task, TERMINAL } from '../task/task.ts'
import { DEFAULT_MAX_RESULT_CHARS } from '../tool/define.ts'
import { reportOf } from './report.ts'
import { stopWaiting } from './waits-for.ts'

/** What reports show of what was said, all together, in characters: with the rest of them it fits. */
const REPORTED_TEXT_CHARS = 60_000

/**
 * Whether there is still something to wait for: of children until those have ended who went on in
 * their places; of a task elsewhere, until its end has ended the wait.
 */
export const isAwaited = async (
  call: ToolCall,
  { isElsewhere }: CallResult,
  children: Task[],
): Promise<boolean> => {
  if (isElsewhere)
    return !children.every(hasEnded) && !(call.taskId && (await noneLeft(call.taskId, call.id)))
  return !(await lastInLine(children)).every(hasEnded)
}

const hasEnded = ({ status }: Task): boolean => TERMINAL.includes(status)

/** Puts what the children came to into the call's record: from now on it can't change. */
export const writeAnswer = async (
  call: ToolCall,
  result: CallResult,
  { children, clock }: { children: Task[]; clock: Clock },
): Promise<ToolCall> => {
  // Nobody else ends a wait whose time is up.
  if (result.isElsewhere && call.taskId)
    for (const { id } of children)
      await stopWaiting({ waiterId: call.taskId, callId: call.id, targetId: id })
  const answer = result.reports
    ? await reportAnswer(result, children)
    : await outputAnswer(await lastInLine(children))
  const data = { spawned_sub_task_ids: result.children, answered_at: isoNow(clock) }
  const shown = {
    ...answer,
    content: await shortenText(call.id, answer.content, DEFAULT_MAX_RESULT_CHARS),
    ...(result.isElsewhere ? {} : { data }),
  }
  const outcome = await table.update(
    ToolCall,
    callKey(call.id),
    { set: { answer: await storeLarge(call.id, shown), answeredAt: isoNow(clock) } },
    { where: { answer: is.absent } },
  )
  return outcome.item ?? call
}

/** What the children said, one after the other. */
const outputAnswer = async (children: Task[]): Promise<CallResult> => ({
  isError: children.every(child => child.status !== 'COMPLETED'),
  content: (await Promise.all(children.map(outputOf))).join('\n\n'),
})

/** What is known of each of them; those that still run go on beside the task. */
const reportAnswer = async (
  { children: ids = [], isElsewhere }: CallResult,
  children: Task[],
): Promise<CallResult> => {
  const room = Math.floor(REPORTED_TEXT_CHARS / Math.max(1, children.length))
  const reports = await Promise.all(children.map(child => reportOf(child, room)))
  const pending = reports.filter(({ state }) => state !== 'done').map(({ task_id }) => task_id)
  const media = [...new Set(reports.flatMap(report => report.media))]
  return {
    isError: false,
    content: JSON.stringify({
      state: pending.length > 0 ? 'pending' : 'done',
      ...(pending.length > 0 ? { pending_task_ids: pending } : {}),
      subagents: reports,
    }),
    ...(media.length > 0 ? { media } : {}),
    fetched: ids.filter(id => !pending.includes(id)),
    ...(isElsewhere ? {} : { beside: pending }),
  }
}

const outputOf = async (child: Task): Promise<string> => {
  if (child.status === 'COMPLETED') return finalText(child)
  const why = child.error ? `: ${child.error.message}` : ''
  return `The sub-agent's task ${child.id} ended as ${child.status}${why}`
}
