import { type Clock, systemClock } from '../core/clock.ts'
import { errorKind } from '../core/error-kind.ts'
import { log } from '../core/log.ts'
import { wellFormed } from '../core/well-formed.ts'
import { toResult, toText } from '../tool/result.ts'
import type { Admission } from './gate.ts'
import { maskSecrets } from './mask.ts'
import { shortenData, shortenText } from './shorten.ts'
import type { CallResult, ToolCall } from './tool-call.ts'

/**
 * Runs an operation's code and returns what came of it; nothing that it throws gets past here.
 * Secrets that the call received are masked in all of it.
 */
export const execute = async (
  call: ToolCall,
  { agent, tool, operation, parameters, settings }: Admission,
  clock: Clock = systemClock,
): Promise<CallResult> => {
  const timeoutMs = operation.timeoutSeconds * 1_000
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const value = await withTimeout(signal, timeoutMs, async () =>
      operation.execute({
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
      }),
    )
    const masked = maskSecrets(wellFormed(toResult(value)), settings.secrets)
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

/** Ends the wait when the time is up, whether or not the operation listens to its signal. */
const withTimeout = async <T>(
  signal: AbortSignal,
  timeoutMs: number,
  work: () => Promise<T>,
): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () =>
    reject(new Error(`The operation took longer than its ${timeoutMs / 1_000} seconds.`))
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(), promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
