import type {
  LanguageModelV4,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4Warning,
} from '@ai-sdk/provider'
import { cut } from '../core/clip.ts'
import { hasCode } from '../core/errors.ts'
import { type Collected, collect, emptyCollection, finish, hasCalls } from './collect.ts'
import type { FinishReason, ModelRequest, ModelResponse, ModelUsage } from './model.ts'
import { brokenAnswer, modelError } from './model-error.ts'
import { toCallOptions } from './prompt.ts'

/**
 * Asks a model once, without retries, and returns its whole answer. Throws MODEL_ERROR where the
 * provider failed or the answer broke off before it had a call; an answer that broke off within
 * or after a call is returned with `interrupted`, so that what arrived can be told to the model.
 * An abort throws the signal's own reason, a timeout's MODEL_ERROR.
 *
 * It always streams: without a stream, some drivers make `{}` of a call that was cut off.
 */
export const generate = async (
  model: LanguageModelV4,
  request: ModelRequest,
): Promise<ModelResponse> => {
  const provider = providerOf(model)
  const answer: Answer = { collected: emptyCollection(), warnings: [] }
  try {
    request.signal?.throwIfAborted()
    const { stream } = await model.doStream(toCallOptions(request))
    for await (const part of read(stream)) take(answer, part)
  } catch (error) {
    if (request.signal?.aborted) throw abortError(provider, request.signal)
    // Ours, before anything was sent: it says itself what is wrong with the address.
    if (hasCode(error, 'FETCH_REFUSED')) throw error
    // Once a call has begun, a broken connection is a cut-off call: the same request might break
    // at the same place for ever.
    if (isRefusal(error) || !hasCalls(answer.collected))
      throw modelError(provider, error, { mayHaveCost: hasBegun(answer) })
    answer.finishReason = 'interrupted'
  }
  if (answer.error !== undefined)
    throw modelError(provider, answer.error, { mayHaveCost: hasBegun(answer) })
  return toResponse(provider, answer)
}

type Answer = {
  collected: Collected
  warnings: string[]
  id?: string
  model?: string
  usage?: LanguageModelV4Usage
  finishReason?: FinishReason
  error?: unknown
}

/** What a provider calls things is told in traces; a server of anyone's may say anything. */
const MAX_NAME_CHARS = 200

/** Whether any of the answer's own text or calls has come. */
const hasBegun = ({ collected }: Answer): boolean => collected.drafts.length > 0

const take = (answer: Answer, part: LanguageModelV4StreamPart): void => {
  switch (part.type) {
    case 'stream-start':
      answer.warnings.push(...part.warnings.map(warningText))
      return
    case 'response-metadata':
      if (part.id) answer.id = cut(part.id, MAX_NAME_CHARS)
      if (part.modelId) answer.model = cut(part.modelId, MAX_NAME_CHARS)
      return
    case 'finish':
      answer.usage = part.usage
      answer.finishReason ??= reasonOf(part.finishReason)
      return
    case 'error':
      // The first error says why; a driver may add others that follow from it.
      if (isBreak(part.error)) answer.finishReason = 'interrupted'
      else answer.error ??= part.error ?? 'unknown'
      return
    default:
      collect(answer.collected, part)
  }
}

const toResponse = (provider: string, answer: Answer): ModelResponse => {
  const finishReason = answer.finishReason ?? 'interrupted'
  if (!hasCalls(answer.collected)) {
    if (finishReason === 'interrupted') throw brokenAnswer(provider, 'gateway-error')
    if (finishReason === 'error') throw brokenAnswer(provider, 'unknown')
  }
  return {
    message: { role: 'assistant', parts: finish(answer.collected, finishReason) },
    finishReason,
    usage: usageOf(answer.usage),
    ...(answer.id === undefined ? {} : { id: answer.id }),
    ...(answer.model === undefined ? {} : { model: answer.model }),
    warnings: answer.warnings,
  }
}

/** A driver's `other` without a word of the provider's is a stream that ended before its end. */
const reasonOf = ({ unified, raw }: { unified: FinishReason; raw: string | undefined }) =>
  unified === 'other' && raw === undefined ? 'interrupted' : unified

const usageOf = (usage: LanguageModelV4Usage | undefined): ModelUsage => {
  const { reasoning } = usage?.outputTokens ?? {}
  const { cacheRead } = usage?.inputTokens ?? {}
  return {
    inputTokens: tokensOf(usage?.inputTokens.total),
    outputTokens: tokensOf(usage?.outputTokens.total),
    ...(reasoning !== undefined && { reasoningTokens: tokensOf(reasoning) }),
    ...(cacheRead !== undefined && { cachedInputTokens: tokensOf(cacheRead) }),
  }
}

/** What a server counts is believed as far as it can be one: limits are held by it. */
const tokensOf = (count: number | undefined): number =>
  Number.isFinite(count) ? Math.min(Math.max(Math.round(count ?? 0), 0), MAX_TOKENS_TOLD) : 0

/** More than any request can use, and little enough that sums stay exact. */
const MAX_TOKENS_TOLD = 1_000_000_000

/** The provider as a model reference names it: drivers add the kind of their endpoint. */
const providerOf = (model: LanguageModelV4): string => model.provider.split('.')[0] ?? ''

const warningText = (warning: SharedV4Warning): string => {
  switch (warning.type) {
    case 'other':
      return warning.message
    case 'deprecated':
      return `${warning.setting}: ${warning.message}`
    case 'unsupported':
    case 'compatibility':
      return [`${warning.type}: ${warning.feature}`, warning.details].filter(Boolean).join(': ')
    default:
      return warning satisfies never
  }
}

/** The stream's parts one by one; it is cancelled where the reader stops early. */
async function* read<Part>(stream: ReadableStream<Part>): AsyncGenerator<Part> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    reader.cancel().catch(() => {
      // It has failed already, and its failure is being thrown.
    })
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '')

/** What drivers stream when an answer does not follow the protocol to its end. */
const BREAKS = ['AI_InvalidResponseDataError', 'AI_JSONParseError', 'AI_TypeValidationError']

const isBreak = (error: unknown): boolean => BREAKS.includes(nameOf(error))

/** The provider's own refusal has a status of failure; a connection that broke has none. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'statusCode' in error && Number(error.statusCode) >= 400

/** A caller who gave up knows why; that the time was up is a failure like the provider's own. */
const abortError = (provider: string, { reason }: AbortSignal): unknown =>
  nameOf(reason) === 'TimeoutError' ? modelError(provider, reason, { mayHaveCost: true }) : reason
