import { runFunction } from '../../lib/core/function.ts'
import { WakeEvent, wakeTaskOf } from '../../lib/workflow/wake-task-of.ts'

export const handler = async (event: unknown): Promise<void> => {
  const { callId } = WakeEvent.parse(event)
  await runFunction({ callId }, () => wakeTaskOf(callId))
}
