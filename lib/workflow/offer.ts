import { type Agent, getAgents } from '../agent/agent.ts'
import { listAgentTools } from '../agent/agent-tool.ts'
import { availableSettings, enabledOperations, scopeOf } from '../call/gate.ts'
import { hasCode, isRefusal } from '../core/errors.ts'
import { errorFields, log } from '../core/log.ts'
import { batchGet } from '../data/table.ts'
import type { ModelTool } from '../llm/model.ts'
import { dialectOf } from '../llm/provider.ts'
import { type Names, readNames } from '../settings/agent-ids.ts'
import {
  cascade,
  cascadeKeys,
  configurationLines,
  type Effective,
  labelOf,
} from '../settings/cascade.ts'
import { choicesOf } from '../tool/choices.ts'
import type { Operation, Tool } from '../tool/define.ts'
import { type Adapted, adapt, type Dialect } from '../tool/dialect/adapt.ts'
import { aliasesOf } from '../tool/dialect/names.ts'
import { findTool, type ToolRegistry } from '../tool/registry.ts'
import { type Offered, toolSchema } from '../tool/schema.ts'

/** A tool as one agent's model may be offered it: under a name and a schema of its provider's. */
export type Offer = {
  tool: Tool
  enabled: Operation[]
  forModel: ModelTool
  /** The arguments that the model sent, in the shape that the tool declares. */
  fromWire: Adapted['fromWire']
}

/** A tool with the offer of all its enabled operations, and what makes one of some of them. */
export type Candidate = {
  tool: Tool
  enabled: Operation[]
  whole: Offer
  offer: (only: Operation[]) => Offer
}

/** All that an agent's model may be offered, by the wire's names. */
export type Catalogue = Map<string, Candidate>

/**
 * What an agent's model may call: its enabled tools that are available, with their enabled
 * operations. One query for the agent's tools, one batched read for all their settings, and one
 * for the agents that those name, where they name any.
 */
export const readCatalogue = async (
  agent: Agent,
  registry: ToolRegistry,
  { provider }: { provider: string },
): Promise<Catalogue> => {
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
  const dialect = dialectOf(provider)
  const aliases = aliasesOf(
    dialect,
    present.map(({ tool }) => tool.name),
  )
  const tools = new Map(
    present.map(({ agentTool, tool }) => [
      tool.name,
      { agentTool, tool, effective: cascade(tool, found, scope) },
    ]),
  )
  const told = [...tools.values()].flatMap(({ effective }) =>
    Object.values(effective).filter(isTold),
  )
  const names = await readNames(told, scope, getAgents)
  return new Map(
    [...aliases].flatMap(([alias, name]): [string, Candidate][] => {
      const { tool, agentTool, effective } = tools.get(name) ?? {}
      if (!tool || !effective) return []
      const enabled = enabledOperations(tool, agentTool)
      const settings =
        enabled.length > 0 ? unlessRefused(() => availableSettings(tool, effective)) : undefined
      if (!settings) return []
      const configuration = configurationLines(effective, names)
      const offered = { choices: choicesOf(tool, settings.values), label: labelFrom(names) }
      const offer = (only: Operation[]) =>
        offerOf(tool, only, { alias, dialect, configuration, offered })
      const whole = unlessRefused(() => offer(enabled))
      return whole ? [[alias, { tool, enabled, whole, offer }]] : []
    }),
  )
}

const labelFrom = (names: Names) => (id: string) => labelOf(id, names)

/** Whether a model is told of the agents that a setting names. */
const isTold = ({ definition: { exposeToLlm, enumFor } }: Effective): boolean =>
  exposeToLlm === true || enumFor !== undefined

type Presentation = {
  alias: string
  dialect: Dialect
  configuration: string
  offered: Required<Offered>
}

const offerOf = (
  tool: Tool,
  enabled: Operation[],
  { alias, dialect, configuration, offered }: Presentation,
): Offer => {
  const { schema, strict, notes, fromWire } = adapted(tool, enabled, { dialect, offered })
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
const adapted = (
  tool: Tool,
  enabled: Operation[],
  { dialect, offered: { choices, label } }: { dialect: Dialect; offered: Required<Offered> },
): Adapted => {
  const known = adaptations.get(tool) ?? new Map<string, Adapted>()
  adaptations.set(tool, known)
  const told = Object.values(choices).map(({ values }) => values.map(label))
  const key = JSON.stringify([dialect, enabled.map(({ name }) => name), choices, told])
  const adaptation = known.get(key) ?? adapt(dialect, toolSchema(tool, enabled, { choices, label }))
  // Which operations are offered together differs by agent and by step, so there may be many.
  if (known.size === MAX_ADAPTATIONS) known.clear()
  known.set(key, adaptation)
  return adaptation
}

const adaptations = new WeakMap<Tool, Map<string, Adapted>>()
/** Of one tool, kept in a function's memory. */
const MAX_ADAPTATIONS = 100

/**
 * What is made of a tool, unless it can't run now or no wire can carry its schema: then it is one
 * tool less, and no reason to stop the task; why stands in the log.
 */
const unlessRefused = <T>(make: () => T): T | undefined => {
  try {
    return make()
  } catch (error) {
    if (!isRefusal(error) && !hasCode(error, 'INVALID_DEFINITION')) throw error
    log('warn', 'tool-not-offered', errorFields(error))
    return undefined
  }
}
