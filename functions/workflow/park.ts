import { withLogIds } from '../../lib/core/log.ts'
import { ParkEvent, park } from '../../lib/workflow/park.ts'

export const handler = async (event: unknown): Promise<void> => {
  const parked = ParkEvent.parse(event)
  await withLogIds({ taskId: parked.taskId }, () => park(parked))
}
