import { runFunction } from '../../lib/core/function.ts'
import { ParkEvent, park } from '../../lib/workflow/park.ts'

export const handler = async (event: unknown): Promise<void> => {
  const parked = ParkEvent.parse(event)
  await runFunction({ taskId: parked.taskId }, () => park(parked))
}
