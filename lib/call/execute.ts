import { type Clock, systemClock } from '../core/clock.ts'
import { errorKind } from '../core/error-kind.ts'
import { log } from '../core/log.ts'
import { wellFormed } from '../core/well-formed.ts'
import type { CallContext, Effect } from '../tool/define.ts'
import { toResult, toText } from '../tool/result.ts'
import { serialize } from '../tool/serialize.ts'
import { guardedFetch } from '../web/guarded-fetch.ts'
import type { Admission } from './gate.ts'
import { keeperOf } from './keep-bytes.ts'
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
  admission: Admission,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<CallResult> => {
  let returned: { value: unknown } | undefined
  try {
    returned = { value: await runWrapped(admission, contextOf(call, admission, { signal, clock })) }
    const result = await toResult(returned.value, keeperOf(call, admission))
    const masked = maskResult(wellFormed(result), admission.settings.secrets)
    const { maxResultChars } = admission.tool
    return {
      isError: false,
      ...masked,
      content: await shortenText(call.id, masked.content, maxResultChars),
      ...(masked.data === undefined ? {} : { data: await shortenData(call.id, masked.data) }),
    }
  } catch (error) {
    // Its message may repeat arguments: that is for the call's record alone.
    log('warn', 'tool-call-failed', { callId: call.id, ...errorKind(error) })
    const words = (await wordsOf(error)) || FAILED_SILENTLY
    const text = returned ? ranWithout(admission.operation.effect, words) : words
    return {
      isError: true,
      content: await shortenText(
        call.id,
        maskSecrets(text.toWellFormed(), admission.settings.secrets),
        admission.tool.maxResultChars,
      ),
    }
  }
}

const contextOf = (
  call: ToolCall,
  { agent, tool, operation, parameters, settings }: Admission,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): CallContext => ({
  parameters,
  settings: settings.values,
  call: {
    id: call.id,
    tool: tool.name,
    operation: operation.name,
    effect: operation.effect,
    ...(call.decidedBy === undefined ? {} : { approvedBy: call.decidedBy }),
  },
  agent: { id: agent.id, name: agent.name },
  principal: { id: agent.principalId },
  ...(call.taskId && call.rootId ? { task: { id: call.taskId, rootId: call.rootId } } : {}),
  meta: call.meta,
  fetch: guardedFetch({ signal }),
  clock,
  signal,
  idempotencyKey: call.id,
})

/** The operation's code within its tool's middleware, the first of which is outermost. */
const runWrapped = async (
  { tool, operation }: Pick<Admission, 'tool' | 'operation'>,
  context: CallContext,
): Promise<unknown> => {
  // What is within gets a context of its own: what was approved is what runs, whatever middleware
  // does to the one that it was given.
  const run = tool.middleware.reduceRight<(own: CallContext) => unknown>(
    (next, middleware) => own => {
      const within = { ...own, parameters: structuredClone(own.parameters) }
      return middleware(
        own,
        once(() => next(within), own.signal),
      )
    },
    own => operation.execute(own),
  )
  return run(context)
}

/**
 * A second run would be a second effect: whoever asks for `next` again gets what the first gave. Nor
 * does anything start once the time is up, when somebody may have been told that nothing ran.
 */
const once = (next: () => unknown, signal: AbortSignal): (() => Promise<unknown>) => {
  let outcome: Promise<unknown> | undefined
  return () => {
    outcome ??= (async () => {
      signal.throwIfAborted()
      return next()
    })()
    // Middleware may turn away from it: a failure that nobody hears would end the process.
    outcome.catch(() => {})
    return outcome
  }
}

/** Of an error alone a model concludes that nothing happened, and tries again. */
const ranWithout = (effect: Effect, words: string): string =>
  [
    `The operation ran, but what it returned could not be passed on: ${words}`,
    ...(effect === 'once' ? ['Running it again would repeat its effect.'] : []),
  ].join(' ')
const FAILED_SILENTLY = 'The tool failed without saying why.'

/** What a tool said when it failed, whatever it threw; what no text can be made of says nothing. */
const wordsOf = async (error: unknown): Promise<string> => {
  try {
    const said = error instanceof Error ? error.message : error
    return said === undefined || said === null
      ? ''
      : toText(await serialize(said, async () => 'some bytes'))
  } catch {
    return ''
  }
}
