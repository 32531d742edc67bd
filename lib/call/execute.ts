import { type Clock, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { wellFormed } from '../core/well-formed.ts'
import { type Json, type ToolResult, toResult } from '../tool/result.ts'
import type { Admission } from './gate.ts'
import { maskSecrets } from './mask.ts'
import type { CallResult, ToolCall } from './tool-call.ts'

/** What a model sees of a result that is too long for it. */
const PREVIEW_CHARS = 2_000

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
    return { isError: false, ...(await shorten(call, masked, tool.maxResultChars)) }
  } catch (error) {
    // Its message may repeat arguments: that is for the call's record alone.
    log('warn', 'tool-call-failed', { callId: call.id, ...kindOfError(error) })
    const message = error instanceof Error ? error.message : String(error)
    return {
      isError: true,
      content:
        maskSecrets(message.toWellFormed(), settings.secrets) ||
        'The tool failed without saying why.',
    }
  }
}

/** Where a tool failed, without a word of what it said. */
const kindOfError = (error: unknown): Record<string, unknown> => {
  if (error instanceof AppError) return { code: error.code }
  if (!(error instanceof Error)) return { error: typeof error }
  const frames = error.stack?.split('\n').filter(line => /^\s+at /.test(line))
  return { error: error.name, stack: frames?.join('\n') }
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

/** Keeps a long result whole in the bucket and tells the model where it is. */
const shorten = async (
  call: ToolCall,
  result: ToolResult,
  maxChars: number,
): Promise<ToolResult> => {
  if (result.content.length <= maxChars) return result
  const objectKey = `results/${call.id}`
  const { putObject } = await import('../data/objects.ts')
  await putObject(objectKey, result.content, 'text/plain; charset=utf-8')
  const note: Json = {
    truncated: true,
    original_size_chars: result.content.length,
    cap_chars: maxChars,
    preview: result.content.slice(0, PREVIEW_CHARS),
    hint: 'The result is too long to show. Ask for less, or for a part of it.',
    full_output: objectKey,
  }
  return { ...result, content: JSON.stringify(note) }
}
