import { type Clock, systemClock } from '../core/clock.ts'
import { errorKind } from '../core/error-kind.ts'
import { log } from '../core/log.ts'
import { wellFormed } from '../core/well-formed.ts'
import { toResult, toText } from '../tool/result.ts'
import type { Admission } from './gate.ts'
import { maskResult, maskSecrets } from './mask.ts'
import { shortenData, shortenText } from './shorten.ts'
import type { CallResult, ToolCall } from './tool-call.ts'

/** What came of a run, or that its time was up; then what it still comes to may follow. */
export type Run = { result: CallResult } | { timedOut: string; late: Promise<CallResult> }

/**
 * Runs an operation's code for as long as it has time, whether or not it listens to its signal.
 * Nothing that it throws gets past here, and secrets that the call received are masked in all of
 * what it says.
 */
export const execute = async (
  call: ToolCall,
  admission: Admission,
  clock: Clock = systemClock,
): Promise<Run> => {
  const { timeoutSeconds } = admission.operation
  const signal = AbortSignal.timeout(timeoutSeconds * 1_000)
  const timeUp = new Promise<undefined>(resolve =>
    signal.addEventListener('abort', () => resolve(undefined), { once: true }),
  )
  const work = perform(call, admission, { signal, clock })
  const result = await Promise.race([work, timeUp])
  // What fails once it is aborted fails for that: it says nothing of what it did before.
  if (result && !(result.isError && signal.aborted)) return { result }
  log('warn', 'tool-call-timed-out', { callId: call.id })
  return { timedOut: `The operation took longer than its ${timeoutSeconds} seconds.`, late: work }
}

const perform = async (
  call: ToolCall,
  { agent, tool, operation, parameters, settings }: Admission,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<CallResult> => {
  try {
    const value = await operation.execute({
      parameters,
      settings: settings.values,
      call: { id: call.id },
      agent: { id: agent.id, name: agent.name },
      principal: { id: agent.principalId },
      ...(call.taskId && call.rootId ? { task: { id: call.taskId, rootId: call.rootId } } : {}),
      meta: call.meta,
      clock,
      signal,
      idempotencyKey: call.id,
    })
    const masked = maskResult(wellFormed(toResult(value)), settings.secrets)
    return {
      isError: false,
      ...masked,
      content: await shortenText(call.id, masked.content, tool.maxResultChars),
      ...(masked.data === undefined ? {} : { data: await shortenData(call.id, masked.data) }),
    }
  } catch (error) {
    // Its message may repeat arguments: that is for the call's record alone.
    log('warn', 'tool-call-failed', { callId: call.id, ...errorKind(error) })
    const text = maskSecrets(wordsOf(error).toWellFormed(), settings.secrets)
    return {
      isError: true,
      content: await shortenText(call.id, text || FAILED_SILENTLY, tool.maxResultChars),
    }
  }
}

const FAILED_SILENTLY = 'The tool failed without saying why.'

/** What a tool said when it failed, whatever it threw; what no text can be made of says nothing. */
const wordsOf = (error: unknown): string => {
  const said = error instanceof Error ? error.message : error
  try {
    return said === undefined ? '' : toText(said)
  } catch {
    return ''
  }
}
