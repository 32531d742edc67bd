import * as z from 'zod'
import { type Agent, configurationOf } from '../agent/agent.ts'
import { type AgentTool, effectiveOperation } from '../agent/agent-tool.ts'
import { scopeOf } from '../call/gate.ts'
import { batchGet } from '../data/table.ts'
import { cascade, cascadeKeys, missingSettings } from '../settings/cascade.ts'
import type { Tool } from '../tool/define.ts'
import { findTool, type ToolRegistry } from '../tool/registry.ts'
import { DeciderWord } from './deciding.ts'
import { AgentId, LlmConfigurationId, PrincipalId, Time } from './wire.ts'

export const AgentView = z
  .object({
    id: AgentId,
    principal_id: PrincipalId,
    name: z.string(),
    description: z.string().nullable(),
    system_prompt: z.string(),
    model: z
      .object({
        provider: z.string(),
        name: z.string(),
        base_url: z.string().nullable().describe('Null: the provider’s own address.'),
      })
      .nullable()
      .describe('Null: an LLM configuration says.'),
    llm_configuration_id: LlmConfigurationId.nullable(),
    max_steps: z.int(),
    max_tokens: z.int().nullable(),
    max_cost_usd: z.number().nullable(),
    max_tree_tokens: z.int().nullable(),
    max_tree_cost_usd: z.number().nullable(),
    max_retries: z.int(),
    retry_after_minutes: z.int(),
    allow_followup: z.boolean(),
    tool_choice: z.union([z.enum(['auto', 'none', 'required']), z.object({ tool: z.string() })]),
    version: z.int().describe('Rises with each change; the ETag repeats it.'),
    created_at: Time,
  })
  .meta({ id: 'Agent' })
export type AgentView = z.infer<typeof AgentView>

const OverrideView = z.object({
  enabled: z.boolean().nullable(),
  requires_approval: z.boolean().nullable(),
  decided_by: DeciderWord.nullable(),
  never_by_starter: z.boolean().nullable(),
})

const Source = z.enum(['default', 'override'])

const EffectiveOperationView = z.object({
  name: z.string(),
  enabled: z.boolean(),
  requires_approval: z.boolean(),
  decided_by: DeciderWord,
  never_by_starter: z.boolean().describe('Whether who started the task never decides.'),
  source: z
    .object({
      enabled: Source,
      requires_approval: Source,
      decided_by: Source,
      never_by_starter: Source,
    })
    .describe('Whether the tool says so or an operator.'),
})

export const AgentToolView = z
  .object({
    tool: z.string(),
    display_name: z.string(),
    icon: z.string().nullable(),
    enabled: z.boolean(),
    ready_to_enable: z.boolean().describe('Whether it could run at once: nothing is missing.'),
    missing_required: z
      .array(z.string())
      .describe('Settings that the tool needs before it can run.'),
    operations: z.array(EffectiveOperationView).describe('What holds for each.'),
    overrides: z
      .record(z.string(), OverrideView)
      .describe('What was decided of single operations, by name; null inherits.'),
  })
  .meta({ id: 'AgentTool', description: 'A tool as one agent has it.' })
export type AgentToolView = z.infer<typeof AgentToolView>

export const AgentWithTools = AgentView.extend({ tools: z.array(AgentToolView) }).meta({
  id: 'AgentWithTools',
})

/** An agent on the wire. */
export const presentAgent = (agent: Agent): AgentView => ({
  id: agent.id,
  principal_id: agent.principalId,
  name: agent.name,
  description: agent.description ?? null,
  system_prompt: agent.systemPrompt,
  model:
    'llmConfigurationId' in agent.model
      ? null
      : {
          provider: agent.model.provider,
          name: agent.model.name,
          base_url: agent.model.baseUrl ?? null,
        },
  llm_configuration_id: configurationOf(agent) ?? null,
  max_steps: agent.maxSteps,
  max_tokens: agent.maxTokens ?? null,
  max_cost_usd: agent.maxCostUsd ?? null,
  max_tree_tokens: agent.maxTreeTokens ?? null,
  max_tree_cost_usd: agent.maxTreeCostUsd ?? null,
  max_retries: agent.maxRetries,
  retry_after_minutes: agent.retryAfterMinutes,
  allow_followup: agent.allowFollowup,
  tool_choice: agent.toolChoice,
  version: agent.version,
  created_at: agent.createdAt,
})

/** An agent's tools, each with what has to be set before it can run; one batched read for all. */
export const presentAgentTools = async (
  agent: Agent,
  agentTools: AgentTool[],
  tools: ToolRegistry,
): Promise<AgentToolView[]> => {
  const scope = scopeOf(agent)
  const found = await batchGet(agentTools.flatMap(({ tool }) => cascadeKeys(tool, scope)))
  return Promise.all(
    agentTools.map(async agentTool => {
      const tool = await findTool(tools, agentTool.tool)
      const missing = tool ? missingSettings(cascade(tool, found, scope)) : []
      return presentAgentTool(agentTool, { tool, missing })
    }),
  )
}

/** One tool of an agent, as `presentAgentTools` shows each. */
export const presentOneTool = async (
  agent: Agent,
  agentTool: AgentTool,
  tools: ToolRegistry,
): Promise<AgentToolView> => {
  const [view] = await presentAgentTools(agent, [agentTool], tools)
  if (!view) throw new Error('A presenter left out what it was given.')
  return view
}

const presentAgentTool = (
  { tool: name, enabled, operations }: AgentTool,
  { tool, missing }: { tool: Tool | undefined; missing: string[] },
): AgentToolView => ({
  tool: name,
  // A tool that is gone leaves its name.
  display_name: tool?.displayName ?? name,
  icon: tool?.icon ?? null,
  enabled,
  // A tool that is gone runs no more, whatever it would need.
  ready_to_enable: tool !== undefined && missing.length === 0,
  missing_required: missing,
  operations: Object.values(tool?.operations ?? {}).map(operation => {
    const override = operations[operation.name]
    const { enabled, requiresApproval, decidedBy, neverByStarter } = effectiveOperation(
      operation,
      override,
    )
    const sourceOf = (said: unknown) => (said === undefined ? 'default' : 'override')
    return {
      name: operation.name,
      enabled,
      requires_approval: requiresApproval,
      decided_by: decidedBy,
      never_by_starter: neverByStarter,
      source: {
        enabled: sourceOf(override?.enabled),
        requires_approval: sourceOf(override?.requiresApproval),
        decided_by: sourceOf(override?.decidedBy),
        never_by_starter: sourceOf(override?.neverByStarter),
      },
    }
  }),
  overrides: Object.fromEntries(
    Object.entries(operations).map(([operation, override]) => [
      operation,
      {
        enabled: override.enabled ?? null,
        requires_approval: override.requiresApproval ?? null,
        decided_by: override.decidedBy ?? null,
        never_by_starter: override.neverByStarter ?? null,
      },
    ]),
  ),
})
