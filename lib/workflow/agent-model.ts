import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Agent } from '../agent/agent.ts'
import { AppError } from '../core/errors.ts'
import { findConfiguration, isUsableBy } from '../llm/configuration.ts'
import { openConfigured } from '../llm/configured-model.ts'
import { openModel } from '../llm/provider.ts'

/** The model that answers for an agent; its driver loads, and its key is opened, as it is asked. */
export type AgentModel = {
  provider: string
  name: string
  open: () => Promise<LanguageModelV4>
}

/**
 * Which model answers for an agent: what it says itself, or its LLM configuration as that stands
 * now, in one read. NOT_CONFIGURED where that is gone, or is no longer the agent's to use.
 */
export const modelOf = async (agent: Agent): Promise<AgentModel> => {
  const { model } = agent
  if (!('llmConfigurationId' in model)) return { ...model, open: () => openModel(model) }
  const configuration = await findConfiguration(model.llmConfigurationId)
  if (!configuration || !isUsableBy(configuration, agent))
    throw new AppError(
      'NOT_CONFIGURED',
      `The LLM configuration ${model.llmConfigurationId} is gone, or is none of this agent's. Give the agent another model.`,
    )
  return {
    provider: configuration.provider,
    name: configuration.model,
    open: () => openConfigured(configuration),
  }
}
