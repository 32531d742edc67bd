import type { Agent } from '../agent/agent.ts'
import { listAgentTools } from '../agent/agent-tool.ts'
import { availableSettings, enabledOperations, scopeOf } from '../call/gate.ts'
import { isRefusal } from '../core/errors.ts'
import { errorFields, log } from '../core/log.ts'
import { batchGet } from '../data/table.ts'
import type { ModelTool } from '../llm/model.ts'
import { dialectOf } from '../llm/provider.ts'
import { cascade, cascadeKeys, configurationLines } from '../settings/cascade.ts'
import type { Operation, Tool } from '../tool/define.ts'
import { type Adapted, adapt, type Dialect } from '../tool/dialect/adapt.ts'
import { aliasesOf } from '../tool/dialect/names.ts'
import { findTool, type ToolRegistry } from '../tool/registry.ts'
import { toolSchema } from '../tool/schema.ts'

/** A tool as one agent's model may be offered it: under a name and a schema of its provider's. */
export type Offer = {
  tool: Tool
  enabled: Operation[]
  forModel: ModelTool
  /** The arguments that the model sent, in the shape that the tool declares. */
  fromWire: Adapted['fromWire']
}

/** Makes the offer of a tool with all its enabled operations, or with some of them. */
export type Candidate = { tool: Tool; enabled: Operation[]; offer: (only?: Operation[]) => Offer }

/** All that an agent's model may be offered, by the wire's names. */
export type Catalogue = Map<string, Candidate>

/**
 * What an agent's model may call: its enabled tools that are available, with their enabled
 * operations. One query for the agent's tools, one batched read for all their settings.
 */
export const readCatalogue = async (agent: Agent, registry: ToolRegistry): Promise<Catalogue> => {
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
  const dialect = dialectOf(agent.model.provider)
  const aliases = aliasesOf(
    dialect,
    present.map(({ tool }) => tool.name),
  )
  const tools = new Map(present.map(({ agentTool, tool }) => [tool.name, { agentTool, tool }]))
  return new Map(
    [...aliases].flatMap(([alias, name]): [string, Candidate][] => {
      const { tool, agentTool } = tools.get(name) ?? {}
      if (!tool) return []
      const effective = cascade(tool, found, scope)
      const enabled = enabledOperations(tool, agentTool)
      if (enabled.length === 0 || !isAvailable(() => availableSettings(tool, effective))) return []
      const configuration = configurationLines(effective)
      const offer = (only = enabled) => offerOf(tool, only, { alias, dialect, configuration })
      return [[alias, { tool, enabled, offer }]]
    }),
  )
}

const offerOf = (
  tool: Tool,
  enabled: Operation[],
  { alias, dialect, configuration }: { alias: string; dialect: Dialect; configuration: string },
): Offer => {
  const { schema, strict, notes, fromWire } = adapted(tool, enabled, dialect)
  const description = [
    tool.description,
    ...(enabled.length === 1 ? enabled.map(operation => operation.description) : []),
    ...notes,
    ...(configuration ? [configuration] : []),
  ].join('\n\n')
  return {
    tool,
    enabled,
    fromWire,
    forModel: {
      name: alias,
      description,
      inputSchema: schema,
      ...(strict === undefined ? {} : { strict }),
    },
  }
}

/** Adapting a schema takes time, and is asked for again in every tick of every task. */
const adapted = (tool: Tool, enabled: Operation[], dialect: Dialect): Adapted => {
  const known = adaptations.get(tool) ?? new Map<string, Adapted>()
  adaptations.set(tool, known)
  const key = [dialect, ...enabled.map(({ name }) => name)].join(' ')
  const adaptation = known.get(key) ?? adapt(dialect, toolSchema(tool, enabled))
  // Which operations are offered together differs by agent and by step, so there may be many.
  if (known.size === MAX_ADAPTATIONS) known.clear()
  known.set(key, adaptation)
  return adaptation
}

const adaptations = new WeakMap<Tool, Map<string, Adapted>>()
/** Of one tool, kept in a function's memory. */
const MAX_ADAPTATIONS = 100

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
