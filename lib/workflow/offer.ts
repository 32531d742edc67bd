import type { Agent } from '../agent/agent.ts'
import { listAgentTools } from '../agent/agent-tool.ts'
import { availableSettings, enabledOperations, scopeOf } from '../call/gate.ts'
import { isRefusal } from '../core/errors.ts'
import { errorFields, log } from '../core/log.ts'
import { batchGet } from '../data/table.ts'
import type { ModelTool } from '../llm/model.ts'
import { cascade, cascadeKeys, configurationLines } from '../settings/cascade.ts'
import { wireName } from '../tool/alias.ts'
import type { Operation, Tool } from '../tool/define.ts'
import { findTool, type ToolRegistry } from '../tool/registry.ts'
import { toolSchema } from '../tool/schema.ts'

/** A tool as one agent's model is offered it, under its wire name. */
export type Offer = { tool: Tool; enabled: Operation[]; forModel: ModelTool }

/**
 * What an agent's model may call, by wire name: its enabled tools that are available, with their
 * enabled operations. One query for the agent's tools, one batched read for all their settings.
 */
export const offerTools = async (
  agent: Agent,
  registry: ToolRegistry,
): Promise<Map<string, Offer>> => {
  const agentTools = (await listAgentTools(agent.id)).filter(({ enabled }) => enabled)
  const declared = await Promise.all(
    agentTools.map(async agentTool => ({
      agentTool,
      tool: await findTool(registry, agentTool.tool),
    })),
  )
  const present = declared.flatMap(({ agentTool, tool }) => (tool ? [{ agentTool, tool }] : []))
  const scope = scopeOf(agent)
  const found = await batchGet(present.flatMap(({ tool }) => cascadeKeys(tool.name, scope)))
  const offers = present.flatMap(({ agentTool, tool }) => {
    const effective = cascade(tool, found, scope)
    const enabled = enabledOperations(tool, agentTool)
    if (enabled.length === 0 || !isAvailable(() => availableSettings(tool, effective))) return []
    return [offerOf(tool, enabled, configurationLines(effective))]
  })
  return new Map(offers.map(offer => [offer.forModel.name, offer]))
}

const offerOf = (tool: Tool, enabled: Operation[], configuration: string): Offer => ({
  tool,
  enabled,
  forModel: {
    name: wireName(tool.name),
    description: [
      tool.description,
      ...(enabled.length === 1 ? enabled.map(({ description }) => description) : []),
      ...(configuration ? [configuration] : []),
    ].join('\n\n'),
    inputSchema: toolSchema(tool, enabled),
  },
})

/** A tool that can't run now is not offered; why stands in the log. */
const isAvailable = (check: () => unknown): boolean => {
  try {
    check()
    return true
  } catch (error) {
    if (!isRefusal(error)) throw error
    log('warn', 'tool-not-offered', errorFields(error))
    return false
  }
}
