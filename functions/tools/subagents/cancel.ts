import type { Id } from '../../../lib/core/ids.ts'
import { presentFamilyUsage } from '../../../lib/http/present-usage.ts'
import { lastInLine, TERMINAL } from '../../../lib/task/task.ts'
import type { CallContext } from '../../../lib/tool/define.ts'
import { result } from '../../../lib/tool/result.ts'
import { cancelTask } from '../../../lib/workflow/cancel.ts'
import { getDescendant, usageOf } from '../../../lib/workflow/family.ts'
import { sourceOf } from './target.ts'

/** Cancels a sub-agent of the asking task, whoever goes on in its place, and all below. */
export const cancel = async (context: CallContext, taskId: Id<'task'>) => {
  const task = await getDescendant(taskId, sourceOf(context).sourceId)
  const [last = task] = await lastInLine([task])
  const hadEnded = TERMINAL.includes(last.status)
  // Done again, it finishes what was left.
  const ended = await cancelTask(task, { by: context.agent.id, clock: context.clock })
  return result({
    content: {
      task_id: taskId,
      status: ended.status,
      had_ended: hadEnded,
      used: presentFamilyUsage(await usageOf(task)),
    },
    fetched: [taskId],
  })
}
