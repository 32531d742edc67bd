import type { Author } from '../audit/audit.ts'
import { isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { invalid, type Problem } from '../core/problems.ts'
import { batchGet } from '../data/table.ts'
import type { TransactionWrite } from '../data/transact.ts'
import type { PrincipalId } from '../principal/principal.ts'
import { cascade, cascadeKeys, missingSettings } from '../settings/cascade.ts'
import { planChange } from '../settings/change.ts'
import { EMPTY_LAYER } from '../settings/layer.ts'
import { layerWrites } from '../settings/write.ts'
import type { Tool } from '../tool/define.ts'
import { findTool, type ToolRegistry } from '../tool/registry.ts'
import type { Decider } from '../tool/words.ts'
import { getAgents } from './agent.ts'
import {
  changesDeciders,
  liftsApproval,
  newAgentTool,
  type OperationChanges,
} from './agent-tool.ts'
import { CREATION_WRITES } from './create-agent.ts'

/** Tools of one template: an agent is made in one transaction, of which DynamoDB takes 100 writes. */
export const MAX_TEMPLATE_TOOLS = 90
/** What is left of them for tools: each is one, and one more with settings. */
export const MAX_TEMPLATE_WRITES = 100 - CREATION_WRITES
/** All settings of a template, in bytes as JSON: a transaction has 4 MB. */
export const MAX_TEMPLATE_BYTES = 1024 ** 2

/** A tool of a template: whether it is enabled, what is said of its operations, its settings. */
export type TemplateTool = {
  name: string
  enabled: boolean
  operations: ({ name: string } & OperationChanges)[]
  settings: Record<string, unknown>
}

/** One tool as it would be made. */
export type PlannedTool = {
  tool: Tool
  enabled: boolean
  operations: string[]
  settings: string[]
  missing: string[]
}

export type TemplatePlan = {
  writes: TransactionWrite[]
  tools: PlannedTool[]
  /** Operations that would run without being asked for, or whose calls others would decide about. */
  unasked: string[]
  /** Who decides about the calls of those, as they are declared. */
  deciders: Decider[]
}

/** Whose template is planned: the agent that it would make, and by whom. */
type Place = {
  agent: { id: Id<'agent'>; principalId: PrincipalId }
  registry: ToolRegistry
  author: Author
}

/**
 * What the tools of a template would write, or VALIDATION_ERROR with all that is wrong with it:
 * tools, operations, settings, skills and plugins that aren't there, values of the wrong shape,
 * passwords, what is named twice, too much of it all. `problems` are those found before.
 */
export const planTemplate = async (
  { tools, requiredPlugins }: { tools: TemplateTool[]; requiredPlugins: string[] },
  place: Place,
  problems: Problem[] = [],
): Promise<TemplatePlan> => {
  const known: { entry: TemplateTool; tool: Tool }[] = []
  const unknown: string[] = []
  for (const entry of tools) {
    const tool = await findTool(place.registry, entry.name)
    if (tool) known.push({ entry, tool })
    else unknown.push(entry.name)
  }
  const twice = repeated(tools.map(({ name }) => name))
  const all = [
    ...problems,
    ...problemOf('tools', 'are not there', unknown),
    ...problemOf('tools', 'are named twice', twice),
    // There are no plugins yet that could be installed.
    ...problemOf('required_plugins', 'are not installed', requiredPlugins),
    ...known.flatMap(({ entry, tool }) => operationProblems(entry, tool)),
    ...known.flatMap(({ entry, tool }) => refusedSettings(entry, tool)),
    ...sizeProblems(tools),
  ]
  const plans = []
  for (const { entry, tool } of known) plans.push(await planTool(entry, tool, place))
  all.push(...plans.flatMap(plan => plan.problems))
  const writes = plans.flatMap(plan => plan.writes)
  if (writes.length > MAX_TEMPLATE_WRITES)
    all.push({
      field: 'tools',
      message: `take ${writes.length} writes, one each and one more with settings; at most ${MAX_TEMPLATE_WRITES} go at once.`,
    })
  if (all.length > 0) throw invalid('Nothing was imported.', all)
  const unasked = known.flatMap(({ entry, tool }) => unaskedOf(entry, tool))
  const missing = await missingIn(
    known.map(({ tool }) => tool),
    place,
  )
  return {
    writes,
    unasked: unasked.map(({ name }) => name),
    deciders: [...new Set(unasked.map(({ operation }) => operation.decidedByDefault))],
    tools: known.map(({ entry, tool }) => ({
      tool,
      enabled: entry.enabled,
      operations: entry.operations.map(({ name }) => name),
      settings: Object.keys(entry.settings),
      missing: (missing.get(tool.name) ?? []).filter(key => !Object.hasOwn(entry.settings, key)),
    })),
  }
}

const planTool = async (
  entry: TemplateTool,
  tool: Tool,
  { agent, author }: Place,
): Promise<{ writes: TransactionWrite[]; problems: Problem[] }> => {
  const { by, clock = systemClock } = author
  const scope = { principalId: agent.principalId, agentId: agent.id }
  const operations = Object.fromEntries(entry.operations.map(({ name, ...rest }) => [name, rest]))
  const row = newAgentTool(agent.id, tool.name, { enabled: entry.enabled, operations }, author)
  const settings = Object.fromEntries(
    Object.entries(entry.settings).filter(([key]) => typeOf(tool, key) !== 'password'),
  )
  try {
    const planned = await planChange(
      tool,
      { scope, layer: EMPTY_LAYER, readAgents: getAgents },
      settings,
      { by, at: isoNow(clock) },
    )
    const isEmpty = Object.keys(planned.set).length === 0
    // One entry in the log tells of the whole agent.
    const layer = layerWrites(tool, { scope, layer: EMPTY_LAYER }, { ...planned, log: [] }, author)
    return { writes: [row, ...(isEmpty ? [] : layer)], problems: [] }
  } catch (error) {
    if (!(error instanceof AppError) || !isProblems(error.details)) throw error
    const problems = error.details.map(({ field, message }) => ({
      field: `${tool.name}.settings.${field}`,
      message,
    }))
    return { writes: [row], problems }
  }
}

const isProblems = (details: unknown): details is Problem[] =>
  Array.isArray(details) && details.every(item => 'field' in item && 'message' in item)

const problemOf = (field: string, what: string, names: string[]): Problem[] =>
  names.length > 0 ? [{ field, message: `${what}: ${[...new Set(names)].join(', ')}.` }] : []

const repeated = (names: string[]): string[] =>
  names.filter((name, index) => names.indexOf(name) !== index)

const operationProblems = ({ operations }: TemplateTool, tool: Tool): Problem[] => {
  const names = operations.map(({ name }) => name)
  const field = `${tool.name}.operations`
  const declared = Object.keys(tool.operations)
  const unknown = names.filter(name => !declared.includes(name))
  return [
    ...problemOf(field, `(there are ${declared.join(', ')}) have none called`, unknown),
    ...problemOf(field, 'are named twice', repeated(names)),
  ]
}

const typeOf = (tool: Tool, key: string) =>
  Object.hasOwn(tool.settings, key) ? tool.settings[key]?.type : undefined

/** A template goes from hand to hand, so it holds no secret; and there are no skills yet to name. */
const refusedSettings = ({ settings }: TemplateTool, tool: Tool): Problem[] =>
  Object.entries(settings).flatMap(([key, value]) => {
    const field = `${tool.name}.settings.${key}`
    if (typeOf(tool, key) === 'password')
      return [{ field, message: 'is a password, which no template holds. Enter it afterwards.' }]
    const isOfSkills =
      Object.hasOwn(tool.settings, key) && tool.settings[key]?.resolveAs === 'skill'
    return isOfSkills
      ? problemOf(field, 'names skills that are not there', [value].flat().map(String))
      : []
  })

const sizeProblems = (tools: TemplateTool[]): Problem[] => {
  const bytes = Buffer.byteLength(JSON.stringify(tools.map(({ settings }) => settings)))
  const count = tools.length
  return [
    ...(count > MAX_TEMPLATE_TOOLS
      ? [{ field: 'tools', message: `are ${count}; at most ${MAX_TEMPLATE_TOOLS} go at once.` }]
      : []),
    ...(bytes > MAX_TEMPLATE_BYTES
      ? [
          {
            field: 'tools',
            message: `have ${bytes} bytes of settings; at most ${MAX_TEMPLATE_BYTES} go at once.`,
          },
        ]
      : []),
  ]
}

const unaskedOf = ({ operations }: TemplateTool, tool: Tool) =>
  operations.flatMap(({ name, ...override }) => {
    const operation = tool.operations[name]
    const isGoverned =
      operation && (liftsApproval(operation, override) || changesDeciders(override))
    return isGoverned ? [{ name: `${tool.name}.${name}`, operation }] : []
  })

/** The required settings that each tool would lack, but for the template's own. */
const missingIn = async (tools: Tool[], { agent }: Place): Promise<Map<string, string[]>> => {
  const scope = { principalId: agent.principalId }
  const found = await batchGet(tools.flatMap(({ name }) => cascadeKeys(name, scope)))
  return new Map(tools.map(tool => [tool.name, missingSettings(cascade(tool, found, scope))]))
}
