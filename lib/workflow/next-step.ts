import { type Clock, systemClock } from '../core/clock.ts'
import { errorFields, log } from '../core/log.ts'
import type { Entry } from '../task/history.ts'
import type { Stop } from './limits.ts'
import { isKind, type ModelStep, modelStep, REQUEST_RESERVE_MS } from './model-step.ts'
import { summarise, tooLong } from './summarise.ts'

/**
 * The model's next step. Where it can't read all of the conversation any more, what came before is
 * summed up, once, and it is asked again: `hand-on`, where there is no time left for that. The
 * summary is kept, so that a later tick goes by it.
 */
export const nextStep = async (
  step: ModelStep,
  remainingMs: () => number,
  clock: Clock = systemClock,
): Promise<Entry | 'cancelled' | 'hand-on' | Stop> => {
  try {
    return await modelStep(step, remainingMs, clock)
  } catch (error) {
    if (!isKind(error, 'context-window')) throw error
    log('info', 'context-window', { taskId: step.task.id, ...errorFields(error) })
  }
  if (remainingMs() < REQUEST_RESERVE_MS) return 'hand-on'
  const { conversation } = step
  const summary = await summarise(step, clock)
  if (summary === 'cancelled' || 'code' in summary) return summary
  conversation.summaries.push(summary)
  if (remainingMs() < REQUEST_RESERVE_MS) return 'hand-on'
  try {
    return await modelStep(step, remainingMs, clock)
  } catch (error) {
    if (!isKind(error, 'context-window')) throw error
    return tooLong()
  }
}
