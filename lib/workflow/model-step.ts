import type { Agent } from '../agent/agent.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { type AppError, hasCode } from '../core/errors.ts'
import { errorFields, log } from '../core/log.ts'
import { wellFormed } from '../core/well-formed.ts'
import { small } from '../data/large.ts'
import { generate } from '../llm/generate.ts'
import type { ToolChoice } from '../llm/model.ts'
import type { ModelErrorDetails } from '../llm/model-error.ts'
import { append, type Entry } from '../task/history.ts'
import { beginStep, bookUsage } from '../task/ledger.ts'
import type { Task } from '../task/task.ts'
import type { AgentModel } from './agent-model.ts'
import { type Conversation, messagesOf } from './conversation.ts'
import type { Offers } from './discovery.ts'
import { imagesOf } from './images.ts'
import { LEASE_LOST } from './lease.ts'

/** How long one model request may take. */
export const MODEL_TIMEOUT_MS = 120_000

/**
 * Asks the model for the next step and adds its answer to the history. Nothing is asked once the
 * task or one of its lineage is cancelled, or their tree has had its steps. Throws MODEL_ERROR,
 * NOT_CONFIGURED or VALIDATION_ERROR of the driver, and LEASE_LOST where another tick has taken the
 * step.
 */
export const modelStep = async (
  {
    task,
    agent,
    model: { provider, name, open },
    offers,
    conversation,
  }: {
    task: Task
    agent: Agent
    model: AgentModel
    offers: Offers
    conversation: Conversation
  },
  clock: Clock = systemClock,
): Promise<Entry | 'cancelled' | 'spent'> => {
  const model = await open()
  const images = await imagesOf(conversation, provider)
  const begun = await beginStep(task)
  if (begun !== 'begun') return begun
  const signal = AbortSignal.timeout(MODEL_TIMEOUT_MS)
  const ask = async (shown: typeof images) =>
    generate(model, {
      system: agent.systemPrompt,
      messages: await messagesOf(conversation, shown),
      tools: offers.forModel,
      toolChoice: toolChoiceOf(agent, offers, conversation),
      signal,
    })
  const response = await ask(images).catch(error => {
    if (images.size === 0 || !isBadRequest(error)) throw error
    // Not every model of a provider sees: without the images the texts still name them.
    log('warn', 'images-refused', errorFields(error))
    return ask(new Map())
  })
  await bookUsage(task.rootId, response.usage)
  for (const warning of response.warnings) log('warn', 'model-warning', { warning })
  const row = {
    taskId: task.id,
    seq: conversation.entries.length,
    createdAt: isoNow(clock),
    model: `${provider}/${name}`,
    finishReason: response.finishReason,
    usage: response.usage,
  }
  const message = wellFormed(response.message)
  if (!(await append(row, message))) throw LEASE_LOST
  return { ...row, role: 'assistant', message: small(null), content: message }
}

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

const isBadRequest = (error: unknown): boolean =>
  hasCode(error, 'MODEL_ERROR') &&
  ((error as AppError).details as ModelErrorDetails).kind === 'bad-request'
