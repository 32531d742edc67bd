import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Agent } from '../agent/agent.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { findConfiguration, isUsableBy } from '../llm/configuration.ts'
import { openConfigured } from '../llm/configured-model.ts'
import type { Price } from '../llm/price.ts'
import { listPrice } from '../llm/price-list.ts'
import { openModel } from '../llm/provider.ts'

/** The model that answers for an agent; its driver loads, and its key is opened, as it is asked. */
export type AgentModel = {
  provider: string
  name: string
  /** What it costs, where anyone knows. */
  price?: Price
  open: () => Promise<LanguageModelV4>
}

/**
 * Which model answers for an agent: what it says itself, or its LLM configuration as that stands
 * now, in one read. NOT_CONFIGURED where that is gone, or is no longer the agent's to use.
 */
export const modelOf = async (agent: Agent, clock: Clock = systemClock): Promise<AgentModel> => {
  const { model } = agent
  const day = isoNow(clock).slice(0, 'YYYY-MM-DD'.length)
  if (!('llmConfigurationId' in model))
    return { ...model, ...priced(listPrice(model, day)), open: () => openModel(model) }
  const configuration = await findConfiguration(model.llmConfigurationId)
  if (!configuration || !isUsableBy(configuration, agent))
    throw new AppError(
      'NOT_CONFIGURED',
      `The LLM configuration ${model.llmConfigurationId} is gone, or is none of this agent's. Give the agent another model.`,
    )
  const { provider, model: name } = configuration
  return {
    provider,
    name,
    ...priced(configuration.price ?? listPrice({ provider, name }, day)),
    open: () => openConfigured(configuration),
  }
}

const priced = (price: Price | undefined) => (price ? { price } : {})
