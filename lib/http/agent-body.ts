import * as z from 'zod'
import type { Agent } from '../agent/agent.ts'
import type { OperationChanges } from '../agent/agent-tool.ts'
import {
  DEFAULT_MAX_STEPS,
  DEFAULT_RETRY_AFTER_MINUTES,
  MAX_DESCRIPTION_CHARS,
  MAX_MAX_COST_USD,
  MAX_MAX_RETRIES,
  MAX_MAX_STEPS,
  MAX_MAX_TOKENS,
  MAX_RETRY_AFTER_MINUTES,
  MAX_SYSTEM_PROMPT_CHARS,
} from '../agent/limits.ts'
import type { AgentChanges } from '../agent/update-agent.ts'
import { AppError } from '../core/errors.ts'
import { ModelReference } from '../llm/model-reference.ts'
import type { Caller } from '../principal/caller.ts'
import { DeciderWord } from './deciding.ts'
import { Category } from './present-tool.ts'
import { LlmConfigurationId, Name, PrincipalId, ToolName } from './wire.ts'

const Model = z
  .strictObject({
    provider: ModelReference.shape.provider,
    name: ModelReference.shape.name,
    base_url: ModelReference.shape.baseUrl
      .optional()
      .describe('For admins; needed with "openai-compatible", which has no address of its own.'),
  })
  .refine(({ provider, base_url }) => provider !== 'openai-compatible' || base_url !== undefined, {
    path: ['base_url'],
    message: 'is needed: an "openai-compatible" model has no address of its own',
  })

/** A tool's name with its plugin's, as an agent stores it, in characters. */
export const MAX_TOOL_NAME_CHARS = 200

const ToolChoice = z
  .union([
    z.enum(['auto', 'none', 'required']),
    z.strictObject({ tool: ToolName.max(MAX_TOOL_NAME_CHARS) }),
  ])
  .describe(
    'Whether a task’s first step has to call a tool, or one tool, or may call none; later steps choose.',
  )

const MaxTokens = z
  .int()
  .min(1)
  .max(MAX_MAX_TOKENS)
  .describe('What one task may use, input and output together; then it fails.')
const MaxCost = z
  .number()
  .positive()
  .max(MAX_MAX_COST_USD)
  .describe('What one task’s own model requests may cost; then it fails. The model needs a price.')
const MaxTreeTokens = z
  .int()
  .min(1)
  .max(MAX_MAX_TOKENS)
  .describe('What a task that is nobody’s sub-agent may use with all that it starts.')
const MaxTreeCost = z
  .number()
  .positive()
  .max(MAX_MAX_COST_USD)
  .describe('What such a task may cost with all that it starts; all their models need a price.')

/** What an operator says of an agent, beside its model. */
const fields = {
  name: Name,
  description: z.string().max(MAX_DESCRIPTION_CHARS),
  system_prompt: z.string().max(MAX_SYSTEM_PROMPT_CHARS),
  max_steps: z.int().min(1).max(MAX_MAX_STEPS),
  max_retries: z
    .int()
    .min(0)
    .max(MAX_MAX_RETRIES)
    .describe('How often a failed task is tried again. Kept and shown; nothing tries again yet.'),
  retry_after_minutes: z.int().min(1).max(MAX_RETRY_AFTER_MINUTES),
  allow_followup: z.boolean().describe('Whether a task that has ended may be asked on.'),
  tool_choice: ToolChoice,
}

/** Which model answers; a template may name none. */
const modelFields = { model: Model.optional(), llm_configuration_id: LlmConfigurationId.optional() }

type Naming = { model?: unknown; llm_configuration_id?: unknown }
const namesOne = ({ model, llm_configuration_id: configuration }: Naming) =>
  (model === undefined) !== (configuration === undefined)
const namesNoTwo = ({ model, llm_configuration_id: configuration }: Naming) =>
  model === undefined || configuration === undefined
const EITHER = { path: ['model'], message: 'or "llm_configuration_id" is needed, and not both' }

/** The fields of a new agent, each with what it is where nothing is said. */
export const NewAgentFields = z.strictObject({
  name: fields.name,
  description: fields.description.optional(),
  system_prompt: fields.system_prompt.default(''),
  ...modelFields,
  max_steps: fields.max_steps.default(DEFAULT_MAX_STEPS),
  max_tokens: MaxTokens.optional(),
  max_cost_usd: MaxCost.optional(),
  max_tree_tokens: MaxTreeTokens.optional(),
  max_tree_cost_usd: MaxTreeCost.optional(),
  max_retries: fields.max_retries.default(0),
  retry_after_minutes: fields.retry_after_minutes.default(DEFAULT_RETRY_AFTER_MINUTES),
  allow_followup: fields.allow_followup.default(true),
  tool_choice: fields.tool_choice.default('auto'),
})
export type NewAgentFields = z.infer<typeof NewAgentFields>

/** The agent of a template. */
export const TemplateAgent = NewAgentFields.refine(namesOne, EITHER)

export const AgentBody = NewAgentFields.extend({
  principal_id: PrincipalId.optional().describe('Who owns it: the caller, if not said.'),
})
  .refine(namesOne, EITHER)
  .meta({
    id: 'NewAgent',
    examples: [{ name: 'Ada', model: { provider: 'rehearsal', name: 'script' } }],
  })

export const AgentPatch = z
  .strictObject({
    ...z.object(fields).partial().shape,
    description: fields.description.nullish(),
    ...modelFields,
    max_tokens: MaxTokens.nullish(),
    max_cost_usd: MaxCost.nullish(),
    max_tree_tokens: MaxTreeTokens.nullish(),
    max_tree_cost_usd: MaxTreeCost.nullish(),
  })
  .refine(namesNoTwo, { path: ['model'], message: 'and "llm_configuration_id" can’t both be set' })
  .meta({
    id: 'AgentChange',
    description: 'What is absent stays; null takes away what there is.',
    examples: [{ name: 'Grace', max_steps: 20 }],
  })

type FieldsOf = { [Field in keyof z.infer<typeof AgentPatch>]: z.infer<typeof AgentPatch>[Field] }

/** What a body says of an agent, in our own words. A base URL is FORBIDDEN to all but admins. */
export const changesOf = (body: FieldsOf, caller: Caller): AgentChanges => {
  const model = modelOf(body, caller)
  const changes = {
    name: body.name,
    description: body.description,
    systemPrompt: body.system_prompt,
    model,
    maxSteps: body.max_steps,
    maxTokens: body.max_tokens,
    maxCostUsd: body.max_cost_usd,
    maxTreeTokens: body.max_tree_tokens,
    maxTreeCostUsd: body.max_tree_cost_usd,
    maxRetries: body.max_retries,
    retryAfterMinutes: body.retry_after_minutes,
    allowFollowup: body.allow_followup,
    toolChoice: body.tool_choice,
  }
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}

/** What a body says of a new agent. */
export const newAgentOf = (
  body: NewAgentFields,
  caller: Caller,
): Pick<Agent, 'name' | 'systemPrompt' | 'model' | 'maxSteps'> & AgentFields =>
  changesOf(body, caller) as ReturnType<typeof newAgentOf>

type AgentFields = Partial<
  Pick<
    Agent,
    | 'description'
    | 'maxTokens'
    | 'maxCostUsd'
    | 'maxTreeTokens'
    | 'maxTreeCostUsd'
    | 'maxRetries'
    | 'retryAfterMinutes'
    | 'allowFollowup'
    | 'toolChoice'
  >
>

const modelOf = (
  { model, llm_configuration_id: llmConfigurationId }: FieldsOf,
  caller: Caller,
): Agent['model'] | undefined => {
  if (llmConfigurationId !== undefined) return { llmConfigurationId }
  if (model === undefined) return undefined
  const { provider, name, base_url: baseUrl } = model
  if (baseUrl === undefined) return { provider, name }
  // The instance's own key for a provider goes wherever the base URL says.
  if (caller.kind !== 'user' || caller.role !== 'admin')
    throw new AppError(
      'FORBIDDEN',
      'Only an admin of the instance may set a base URL. An LLM configuration with a key of its own may have one.',
    )
  return { provider, name, baseUrl }
}

const override = () => z.boolean().nullish().describe('Null inherits again; absent, it stays.')

/** What a body says of an operation, in our own words. */
export const overrideOf = (body: OverrideFields): OperationChanges => ({
  enabled: body.enabled,
  requiresApproval: body.requires_approval,
  decidedBy: body.decided_by,
  neverByStarter: body.never_by_starter,
})
type OverrideFields = {
  [Field in keyof z.infer<typeof OverrideBody>]: z.infer<typeof OverrideBody>[Field]
}

export const OverrideBody = z
  .strictObject({
    enabled: override(),
    requires_approval: override(),
    decided_by: DeciderWord.nullish(),
    never_by_starter: override(),
  })
  .meta({ id: 'Override' })

/** Tools that are named at once; with those of a category a transaction has room for fewer. */
const MAX_NAMED_TOOLS = 90

export const ToolsBody = z
  .strictObject({
    enabled: z.boolean(),
    tools: z.array(ToolName).max(MAX_NAMED_TOOLS).optional(),
    category: Category.optional().describe('All tools of it.'),
  })
  .refine(({ tools, category }) => tools !== undefined || category !== undefined, {
    path: ['tools'],
    message: 'or "category" is needed',
  })
  .meta({ id: 'ToolsChange', examples: [{ enabled: true, tools: ['time', 'calculator'] }] })

export const TransferBody = z
  .strictObject({ principal_id: PrincipalId })
  .meta({ id: 'AgentTransfer' })
