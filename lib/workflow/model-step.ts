import type { Agent } from '../agent/agent.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { type AppError, hasCode } from '../core/errors.ts'
import { errorFields, log } from '../core/log.ts'
import { wellFormed } from '../core/well-formed.ts'
import { small, storeLarge } from '../data/large.ts'
import { type AssistantMessage, toolCalls } from '../llm/message.ts'
import type { ModelRequest, ModelUsage, ToolChoice } from '../llm/model.ts'
import type { ModelErrorDetails, ModelErrorKind } from '../llm/model-error.ts'
import { append, type Entry } from '../task/history.ts'
import type { Task } from '../task/task.ts'
import type { AgentModel } from './agent-model.ts'
import type { Conversation } from './conversation.ts'
import type { Offers } from './discovery.ts'
import { imagesOf } from './images.ts'
import { LEASE_LOST } from './lease.ts'
import { maxCostOf, type Stop, spentOf } from './limits.ts'
import { messagesOf } from './messages.ts'
import { MODEL_TIMEOUT_MS, type Paid, payRequest } from './paid-request.ts'

export type ModelStep = {
  task: Task
  agent: Agent
  model: AgentModel
  offers: Offers
  conversation: Conversation
}

/** How often the same is asked again, within a step, of a model whose calls are malformed. */
export const MAX_REASKS = 2
/** A further request is made only where there is time for it, and to write down what it said. */
export const REQUEST_RESERVE_MS = MODEL_TIMEOUT_MS + 10_000

/**
 * Asks the model for the next step and adds its answer to the history. Nothing is asked once the
 * task or one of its lineage is cancelled, or has come to a limit. Throws MODEL_ERROR,
 * NOT_CONFIGURED or VALIDATION_ERROR of the driver, and LEASE_LOST where another tick has taken the
 * step.
 */
export const modelStep = async (
  step: ModelStep,
  remainingMs: () => number,
  clock: Clock = systemClock,
): Promise<Entry | 'cancelled' | Stop> => {
  const { task, model, conversation } = step
  const asked = await askUntilWhole(step, remainingMs)
  if (!Array.isArray(asked)) return asked
  const kept = asked.at(-1) as Paid
  const discarded = asked.slice(0, -1).map(({ response }) => wellFormed(response.message))
  const row = {
    taskId: task.id,
    seq: conversation.entries.length,
    createdAt: isoNow(clock),
    model: `${model.provider}/${model.name}`,
    finishReason: kept.response.finishReason,
    usage: usageOf(asked),
    ...(model.price ? { cost: costOf(asked) } : {}),
    ...(discarded.length > 0 ? { discarded: await storeLarge(task.id, discarded) } : {}),
  }
  const message = wellFormed(kept.response.message)
  if (!(await append(row, message))) throw LEASE_LOST
  return { ...row, role: 'assistant', message: small(null), content: message }
}

/**
 * All answers that the step was given, the one that counts last. Nothing of an answer has run yet,
 * so one with a malformed call is asked for again as a whole, and its other calls with it; what was
 * discarded is paid all the same. An answer that was cut off is not: the same request would be
 * cut off again.
 */
const askUntilWhole = async (
  step: ModelStep,
  remainingMs: () => number,
): Promise<Paid[] | 'cancelled' | Stop> => {
  const { agent, task, model, conversation } = step
  const driver = await model.open()
  const spent = spentOf(conversation)
  const payer = { task, model, spent, maxCost: maxCostOf(agent) }
  let images = await imagesOf(conversation, model.provider)
  const first = await payRequest(payer, driver, await requestOf(step, images)).catch(
    async error => {
      if (images.size === 0 || !isKind(error, 'bad-request')) throw error
      // Not every model of a provider sees: without the images the texts still name them.
      log('warn', 'images-refused', errorFields(error))
      images = new Map()
      return payRequest(payer, driver, await requestOf(step, images), { isStep: false })
    },
  )
  if (first === 'cancelled' || 'code' in first) return first
  const asked = [first]
  for (let again = 0; again < MAX_REASKS; again++) {
    const last = asked.at(-1)
    if (!last || !isMalformed(last.response.message) || remainingMs() < REQUEST_RESERVE_MS) break
    log('info', 'malformed-call-asked-again', { taskId: task.id, again: again + 1 })
    const next = await payRequest(
      { ...payer, spent: spent + costOf(asked) },
      driver,
      await requestOf(step, images),
      { isStep: false },
    ).catch(error => {
      if (!hasCode(error, 'MODEL_ERROR')) throw error
      // There is an answer, such as it is: its own calls are told what was wrong with them.
      log('warn', 'not-asked-again', errorFields(error))
      return undefined
    })
    if (next === 'cancelled') return next
    if (next === undefined || 'code' in next) break
    asked.push(next)
  }
  return asked
}

const requestOf = async (
  { agent, offers, conversation }: ModelStep,
  images: Awaited<ReturnType<typeof imagesOf>>,
): Promise<ModelRequest> => ({
  system: agent.systemPrompt,
  messages: await messagesOf(conversation, images),
  tools: offers.forModel,
  toolChoice: toolChoiceOf(agent, offers, conversation),
})

const isMalformed = (message: AssistantMessage): boolean => {
  const states = toolCalls(message).map(({ state }) => state)
  return states.includes('malformed') && !states.includes('cut-off')
}

const usageOf = (asked: Paid[]) => {
  const usages: ModelUsage[] = asked.map(({ response }) => response.usage)
  const cached = sum(usages.map(({ cachedInputTokens }) => cachedInputTokens ?? 0))
  return {
    inputTokens: sum(usages.map(({ inputTokens }) => inputTokens)),
    outputTokens: sum(usages.map(({ outputTokens }) => outputTokens)),
    ...(cached > 0 ? { cachedInputTokens: cached } : {}),
  }
}

const costOf = (asked: Paid[]): number => sum(asked.map(({ cost }) => cost ?? 0))

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0)

/**
 * The agent's own choice holds for a task's first step: a model that had to call something in each
 * would never come to an end. A tool that isn't offered can't be asked for; that stands in the log.
 */
const toolChoiceOf = (agent: Agent, offers: Offers, { entries }: Conversation): ToolChoice => {
  const { toolChoice } = agent
  if (toolChoice === 'auto' || entries.some(({ role }) => role === 'assistant')) return 'auto'
  if (typeof toolChoice === 'string') return toolChoice
  const offered = offers.forModel.find(
    ({ name }) => offers.named(name)?.tool.name === toolChoice.tool,
  )
  if (offered) return { tool: offered.name }
  log('warn', 'tool-choice-not-offered', { agentId: agent.id, tool: toolChoice.tool })
  return 'auto'
}

/** Whether an error is a model's of this kind. */
export const isKind = (error: unknown, kind: ModelErrorKind): boolean =>
  hasCode(error, 'MODEL_ERROR') && ((error as AppError).details as ModelErrorDetails).kind === kind
