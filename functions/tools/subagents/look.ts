import { isoIn } from '../../../lib/core/clock.ts'
import { AppError } from '../../../lib/core/errors.ts'
import type { Id } from '../../../lib/core/ids.ts'
import { getTasks, lastInLine, type Task, TERMINAL } from '../../../lib/task/task.ts'
import type { CallContext } from '../../../lib/tool/define.ts'
import { result } from '../../../lib/tool/result.ts'
import { readConversation } from '../../../lib/workflow/conversation.ts'
import { childrenOf, getDescendant, getRelative } from '../../../lib/workflow/family.ts'
import { type Report, reportOf, reportsOf } from '../../../lib/workflow/report.ts'
import { startWaiting } from '../../../lib/workflow/waits-for.ts'
import { sourceOf } from './target.ts'

/** What is shown of what one sub-agent said, in characters: with the rest of its report it fits. */
const MAX_TEXT_CHARS = 90_000
/** Sub-agents that a list tells of, the latest. */
const MAX_LISTED = 200

/** How a sub-agent of the asking task stands, without what it said. */
export const status = async (context: CallContext, taskId: Id<'task'>): Promise<Report> =>
  reportOf(await getDescendant(taskId, sourceOf(context).sourceId), 0)

/** The sub-agents of the asking task, in the order in which it has started them. */
export const list = async (context: CallContext) => {
  const { calls } = await readConversation(sourceOf(context).sourceId)
  const ids = await childrenOf({ calls })
  const subagents = await reportsOf(ids.slice(-MAX_LISTED), 0)
  return { total: ids.length, subagents }
}

type Asked = { task_id: Id<'task'>; wait: boolean; wait_seconds?: number | undefined }

/** What came of a task in the same tree; the call waits for its end where it is asked to. */
export const outcome = async (context: CallContext, { task_id, wait, wait_seconds }: Asked) => {
  const { sourceId: waiterId, callId } = sourceOf(context)
  const task = await getRelative(task_id, waiterId)
  const last = await lastOf(task)
  if (TERMINAL.includes(last.status)) return told(task)
  if (!wait) return reportOf(task, MAX_TEXT_CHARS)
  // Whoever is at the top tells nobody of its end.
  if (!last.parentId)
    throw new AppError(
      'INVALID_STATE',
      `${task_id} stands at the top of the tree, and nobody waits for that one. Read its result without waiting.`,
    )
  if ((await startWaiting({ waiterId, callId, targetId: last.id })) === 'ended') {
    const [ended = task] = await getTasks([task.id])
    return told(ended)
  }
  return result({
    content: { state: 'pending', task_id },
    children: [last.id],
    reports: true,
    isElsewhere: true,
    ...(wait_seconds === undefined
      ? {}
      : { waitUntil: isoIn(wait_seconds * 1_000, context.clock) }),
  })
}

/** The report on a task that has ended: nothing else has to tell of it any more. */
const told = async (task: Task) => {
  const report = await reportOf(task, MAX_TEXT_CHARS)
  return result({ content: report, media: report.media, fetched: [task.id] })
}

const lastOf = async (task: Task): Promise<Task> => (await lastInLine([task]))[0] ?? task
