import type { LanguageModelV4 } from '@ai-sdk/provider'
import { AppError, hasCode } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { ESTIMATED_OUTPUT_TOKENS, type Estimate, estimateOf, tokensIn } from '../llm/estimate.ts'
import { generate } from '../llm/generate.ts'
import type { ModelRequest, ModelResponse, ModelUsage } from '../llm/model.ts'
import type { ModelErrorDetails } from '../llm/model-error.ts'
import { costOf, usdOf } from '../llm/price.ts'
import { type Begun, beginRequest, bookRequest } from '../task/ledger.ts'
import type { Task } from '../task/task.ts'
import type { TracedRequest } from '../trace/traced.ts'
import { trace } from '../trace/tracing.ts'
import type { AgentModel } from './agent-model.ts'
import { notBegun, overMoney, type Stop } from './limits.ts'

/** How long one model request may take. */
export const MODEL_TIMEOUT_MS = 120_000

/** Whose request it is, of which model, and what its task has spent of what it may. */
export type Payer = { task: Task; model: AgentModel; spent: number; maxCost: number | undefined }

/** An answer with what it cost in billionths of a dollar, where its model has a price. */
export type Paid = { response: ModelResponse; cost: number | undefined }

/**
 * Makes one request of a task, and books it: nothing is asked once the task or one of its lineage
 * is cancelled, or where its own limit or its tree's leaves too little. Throws what `generate` does.
 */
export const payRequest = async (
  { task, model, spent, maxCost }: Payer,
  driver: LanguageModelV4,
  request: ModelRequest,
  { isStep = true }: { isStep?: boolean } = {},
): Promise<Paid | 'cancelled' | Stop> => {
  const estimate = estimateOf(request, model.price)
  const over = overMoney({ spent, coming: estimate.cost, maxCost })
  if (over) return over
  const begun = await beginRequest(task, estimate, { isStep })
  if (begun === 'cancelled') return begun
  if (typeof begun === 'string') return notBegun(begun, model)
  const signal = AbortSignal.timeout(MODEL_TIMEOUT_MS)
  const startedAt = Date.now()
  const tell = (came: Pick<TracedRequest, 'response' | 'errorType'>) =>
    trace(({ tellRequest }) => {
      const { provider, name } = model
      const times = { startedAt, endedAt: Date.now() }
      tellRequest({ mark: begun.mark, task, provider, model: name, ...times, ...came })
    })
  const response = await generate(driver, { signal, ...request }).catch(async error => {
    await tell({ errorType: errorTypeOf(error) })
    return giveBack(begun, error)
  })
  for (const warning of response.warnings) log('warn', 'model-warning', { warning })
  const usage = usageOf(response, estimate)
  const cost = model.price && costOf(model.price, usage)
  await tell({ response: { ...response, usage, cost: cost && usdOf(cost) } })
  await bookRequest(begun, usage, cost)
  return { response: { ...response, usage }, cost }
}

const errorTypeOf = (error: unknown): string => {
  if (hasCode(error, 'MODEL_ERROR')) return ((error as AppError).details as ModelErrorDetails).kind
  return error instanceof AppError ? error.code : '_OTHER'
}

/** A provider that refuses a request does not charge it; what broke off or took too long may cost. */
const giveBack = async (begun: Begun, error: unknown): Promise<never> => {
  if (!mayHaveCost(error)) await bookRequest(begun, { inputTokens: 0, outputTokens: 0 }, 0)
  throw error
}

const mayHaveCost = (error: unknown): boolean => {
  if (!hasCode(error, 'MODEL_ERROR')) return false
  const details = (error as AppError).details as ModelErrorDetails
  return details.may_have_cost === true
}

/** A server that counts no tokens is believed to have used about what its texts have. */
const usageOf = ({ usage, message }: ModelResponse, { tokens }: Estimate): ModelUsage => {
  if (usage.inputTokens + usage.outputTokens > 0) return usage
  const text = message.parts.map(part => (part.type === 'tool-call' ? part.input : part.text))
  return { inputTokens: tokens - ESTIMATED_OUTPUT_TOKENS, outputTokens: tokensIn(text.join('')) }
}
