import * as z from 'zod'
import type { Agent } from '../agent/agent.ts'
import type { AgentTool } from '../agent/agent-tool.ts'
import { scopeOf } from '../call/gate.ts'
import { batchGet } from '../data/table.ts'
import { cascade, cascadeKeys, missingSettings } from '../settings/cascade.ts'
import type { Tool } from '../tool/define.ts'
import { findTool, type ToolRegistry } from '../tool/registry.ts'
import { AgentId, PrincipalId, Time } from './wire.ts'

export const AgentView = z
  .object({
    id: AgentId,
    principal_id: PrincipalId,
    name: z.string(),
    description: z.string().nullable(),
    system_prompt: z.string(),
    model: z.object({
      provider: z.string(),
      name: z.string(),
      base_url: z.string().nullable().describe('Null: the provider’s own address.'),
    }),
    max_steps: z.int(),
    created_at: Time,
  })
  .meta({ id: 'Agent' })
export type AgentView = z.infer<typeof AgentView>

const OverrideView = z.object({
  enabled: z.boolean().nullable(),
  requires_approval: z.boolean().nullable(),
})

export const AgentToolView = z
  .object({
    tool: z.string(),
    display_name: z.string(),
    icon: z.string().nullable(),
    enabled: z.boolean(),
    missing_required: z
      .array(z.string())
      .describe('Settings that the tool needs before it can run.'),
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
  model: {
    provider: agent.model.provider,
    name: agent.model.name,
    base_url: agent.model.baseUrl ?? null,
  },
  max_steps: agent.maxSteps,
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
  missing_required: missing,
  overrides: Object.fromEntries(
    Object.entries(operations).map(([operation, override]) => [
      operation,
      { enabled: override.enabled ?? null, requires_approval: override.requiresApproval ?? null },
    ]),
  ),
})
