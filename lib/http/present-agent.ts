import type { Agent } from '../agent/agent.ts'
import type { AgentTool } from '../agent/agent-tool.ts'
import { scopeOf } from '../call/gate.ts'
import { batchGet } from '../data/table.ts'
import { cascade, cascadeKeys, missingSettings } from '../settings/cascade.ts'
import { findTool, type ToolRegistry } from '../tool/registry.ts'

/** An agent on the wire. */
export const presentAgent = (agent: Agent) => ({
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
) => {
  const scope = scopeOf(agent)
  const found = await batchGet(agentTools.flatMap(({ tool }) => cascadeKeys(tool, scope)))
  return Promise.all(
    agentTools.map(async agentTool => {
      const tool = await findTool(tools, agentTool.tool)
      return presentAgentTool(agentTool, tool ? missingSettings(cascade(tool, found, scope)) : [])
    }),
  )
}

const presentAgentTool = ({ tool, enabled, operations }: AgentTool, missing: string[]) => ({
  tool,
  enabled,
  missing_required: missing,
  overrides: Object.fromEntries(
    Object.entries(operations).map(([name, override]) => [
      name,
      { enabled: override.enabled ?? null, requires_approval: override.requiresApproval ?? null },
    ]),
  ),
})
