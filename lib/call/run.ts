import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { errorFields, log } from '../core/log.ts'
import { trace } from '../trace/tracing.ts'
import { elapse } from './elapse.ts'
import { execute } from './execute.ts'
import type { Admission } from './gate.ts'
import { finish } from './receipt.ts'
import { moveCall, type ToolCall } from './tool-call.ts'

/** Runs a call that was just started, and writes what came of it. */
export const run = async (
  call: ToolCall,
  admission: Admission,
  clock: Clock = systemClock,
): Promise<ToolCall> => {
  const started = performance.now()
  const ran = await runToEnd(call, admission, clock)
  const { id: callId, tool, operation, status } = ran
  const milliseconds = Math.round(performance.now() - started)
  log('info', 'tool-call-run', { callId, tool, operation, status, milliseconds })
  // A tick tells of its task's; of one that may run again, whoever runs it then.
  const isOver = ran.taskId === undefined && status !== 'STARTED'
  if (isOver) await trace(({ tellCall }) => tellCall(ran))
  return ran
}

const runToEnd = async (call: ToolCall, admission: Admission, clock: Clock): Promise<ToolCall> => {
  const outcome = await execute(call, admission, clock)
  if ('result' in outcome) return finish(call, outcome.result, clock)
  const canRepeat = call.effect === 'read'
  outcome.late
    // A late failure says nothing of what was done before it.
    .then(late => (canRepeat || late.isError ? undefined : finish(call, late, clock)))
    .catch(error => log('error', 'late-result-lost', { callId: call.id, ...errorFields(error) }))
  // Without a second effect to fear, the model may ask again.
  return canRepeat
    ? finish(call, { isError: true, content: outcome.timedOut }, clock)
    : timeUp(call, clock)
}

/**
 * A run whose time is up may still have its effect: to call it failed would have the model ask for
 * a second one. It is as if its function had died, only sooner: what may run again is run again,
 * under the same key, and of the rest a person has to say.
 */
const timeUp = async (call: ToolCall, clock: Clock): Promise<ToolCall> => {
  const { item } = await moveCall(call, ['STARTED'], 'STARTED', {
    set: { deadlineAt: isoNow(clock) },
    where: { claim: call.claim },
  })
  return elapse(item ?? call, clock)
}
