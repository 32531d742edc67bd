import * as z from 'zod'
import { idOf } from '../core/ids.ts'
import { addLogIds, log } from '../core/log.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { OPEN, Task, taskKey } from '../task/task.ts'
import { trace } from '../trace/tracing.ts'
import { sendToken } from './wake.ts'

export const ParkEvent = z.object({
  taskId: idOf('task'),
  generation: z.int(),
  wakeSeq: z.int(),
  fence: z.int(),
  token: z.string(),
})
export type ParkEvent = z.infer<typeof ParkEvent>

/**
 * Leaves the token of a task's wait where a wake will find it, unless a wake has come since the
 * tick looked: then the wait ends at once. An event that arrives late, after another tick, leaves
 * nothing: that tick's own wait has the token that counts.
 */
export const park = async (event: ParkEvent): Promise<void> => {
  const { taskId, generation, wakeSeq, fence, token } = event
  const outcome = await table.update(
    Task,
    taskKey(taskId),
    { set: { token } },
    { where: { generation, wakeSeq, fence, status: is.oneOf(OPEN) } },
  )
  const { item } = outcome
  addLogIds({ agentId: item?.agentId })
  if (item) await trace(({ nameTask }) => nameTask(item))
  if (outcome.ok) return
  log('info', 'park-refused', { taskId, generation })
  await sendToken(token)
}
