import { getAgent } from '../../../lib/agent/agent.ts'
import {
  type AgentTool,
  effectiveOperation,
  listAgentTools,
} from '../../../lib/agent/agent-tool.ts'
import { scopeOf } from '../../../lib/call/gate.ts'
import { notFound } from '../../../lib/core/errors.ts'
import type { Id } from '../../../lib/core/ids.ts'
import { batchGet } from '../../../lib/data/table.ts'
import { cascade, cascadeKeys, missingSettings } from '../../../lib/settings/cascade.ts'
import type { Tool } from '../../../lib/tool/define.ts'
import { allTools, findTool } from '../../../lib/tool/registry.ts'
import { tools as registry } from '../index.ts'

/** The version of what `get_available_tools` answers. */
const VERSION = 2

/** Every tool there is, as one agent has it; keys of settings that are missing, never their values. */
export const availableTools = async (id: Id<'agent'>) => {
  const agent = await getAgent(id)
  const scope = scopeOf(agent)
  const own = await toolsOf(agent.id)
  const all = await allTools(registry)
  const found = await batchGet(all.flatMap(({ name }) => cascadeKeys(name, scope)))
  const tools = all.map(tool => {
    const missing = missingSettings(cascade(tool, found, scope))
    const [slug] = tool.name.split(':')
    return {
      tool_class: tool.name,
      display_name: tool.displayName,
      description: tool.description,
      plugin_slug: slug === tool.name ? null : slug,
      enabled: own.get(tool.name)?.enabled ?? false,
      ready_to_enable: missing.length === 0,
      missing_required: missing,
      operations: Object.values(tool.operations).map(operation => ({
        name: operation.name,
        description: operation.description,
        ...stateOf(tool, operation.name, own.get(tool.name)),
      })),
    }
  })
  // There are no skills to load yet: none is allowed, and none is seen.
  return { version: VERSION, count: tools.length, tools, skills: { allowed: [], visible: [] } }
}

/** An agent of this principal, with the slim manifest of its tools. */
export const readAgent = async (id: Id<'agent'>, principalId: string) => {
  const agent = await getAgent(id)
  if (agent.principalId !== principalId) throw notFound('agent', id)
  return {
    agent_id: agent.id,
    name: agent.name,
    description: agent.description ?? null,
    system_prompt: agent.systemPrompt,
    max_steps: agent.maxSteps,
    allow_followup: agent.allowFollowup,
    retry_after_minutes: agent.retryAfterMinutes,
    max_retries: agent.maxRetries,
    tools: await manifestOf(agent.id),
  }
}

/** An agent's tools without words about them: whoever asks knows the tools. */
export const manifestOf = async (agentId: Id<'agent'>) => {
  const own = await toolsOf(agentId)
  const tools = await Promise.all([...own.keys()].map(name => findTool(registry, name)))
  return tools.flatMap(tool =>
    tool
      ? [
          {
            tool_class: tool.name,
            icon: tool.icon ?? null,
            enabled: own.get(tool.name)?.enabled ?? false,
            operations: Object.keys(tool.operations).map(name => ({
              name,
              ...stateOf(tool, name, own.get(tool.name)),
            })),
          },
        ]
      : [],
  )
}

const toolsOf = async (agentId: Id<'agent'>): Promise<Map<string, AgentTool>> =>
  new Map((await listAgentTools(agentId)).map(agentTool => [agentTool.tool, agentTool]))

const stateOf = (tool: Tool, name: string, agentTool: AgentTool | undefined) => {
  const operation = tool.operations[name]
  if (!operation) throw notFound('operation', name)
  const { enabled, requiresApproval } = effectiveOperation(operation, agentTool?.operations[name])
  return { enabled, requires_approval: requiresApproval }
}
