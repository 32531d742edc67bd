import * as z from 'zod'
import { addLogIds } from '../core/log.ts'
import { trace } from '../trace/tracing.ts'
import type { Delivery } from './delivery.ts'

/** What of a notice's body says whom it concerns. */
const Body = z.object({
  data: z.object({
    call_id: z.string().optional(),
    task_id: z.string().nullish(),
    root_task_id: z.string().nullish(),
    agent_id: z.string().optional(),
  }),
})

/** From now on the lines of the log name the delivery's subscription, and what it tells of. */
export const nameDelivery = async ({ subscriptionId, body }: Delivery): Promise<void> => {
  addLogIds({ subscriptionId })
  // A test's tells of nothing, and one that is over has no body any more.
  const { data } = Body.safeParse(JSON.parse(body ?? 'null')).data ?? {}
  if (!data) return
  const { call_id: callId, task_id: taskId, agent_id: agentId } = data
  addLogIds({ callId, taskId: taskId ?? undefined, agentId })
  const rootId = data.root_task_id ?? undefined
  await trace(({ nameCall, nameTask }) => {
    if (callId !== undefined) nameCall({ id: callId, rootId })
    else if (taskId && rootId) nameTask({ id: taskId, rootId })
  })
}
