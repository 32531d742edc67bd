import { clip } from '../core/clip.ts'
import type { Agent } from './agent.ts'

/** What the log tells of one text, in characters: an entry is far below 400 KB, and so is a page. */
const MAX_TOLD_CHARS = 4_000

export type Told = Record<string, string | number | boolean | null | Record<string, string | null>>

/** What operators say of an agent, as the log names it, which is as the wire does. */
export const toldOf = (agent: Agent): Told => ({
  name: agent.name,
  description: agent.description ?? null,
  system_prompt: agent.systemPrompt,
  model: toldModel(agent.model),
  max_steps: agent.maxSteps,
  max_tokens: agent.maxTokens ?? null,
  max_cost_usd: agent.maxCostUsd ?? null,
  max_tree_tokens: agent.maxTreeTokens ?? null,
  max_tree_cost_usd: agent.maxTreeCostUsd ?? null,
  max_retries: agent.maxRetries,
  retry_after_minutes: agent.retryAfterMinutes,
  allow_followup: agent.allowFollowup,
  tool_choice: agent.toolChoice,
})

/** The same, with texts of a length for a log. */
export const clipped = (told: Told): Told =>
  Object.fromEntries(
    Object.entries(told).map(([field, value]) => [
      field,
      typeof value === 'string' ? clip(value, MAX_TOLD_CHARS) : value,
    ]),
  )

const toldModel = (model: Agent['model']): Record<string, string | null> =>
  'llmConfigurationId' in model
    ? { llm_configuration_id: model.llmConfigurationId }
    : { provider: model.provider, name: model.name, base_url: model.baseUrl ?? null }
