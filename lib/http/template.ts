import * as z from 'zod'
import { type Agent, configurationOf } from '../agent/agent.ts'
import { type AgentTool, listAgentTools } from '../agent/agent-tool.ts'
import type { TemplateTool } from '../agent/template.ts'
import { batchGet } from '../data/table.ts'
import { layerKey, layerOf } from '../settings/layer.ts'
import type { Tool } from '../tool/define.ts'
import { allTools, type ToolRegistry } from '../tool/registry.ts'
import { overrideOf, TemplateAgent } from './agent-body.ts'
import { DeciderWord } from './deciding.ts'
import { presentAgent } from './present-agent.ts'
import { objectOf } from './request.ts'
import { OperationName, SettingValue, ToolName } from './wire.ts'

/** Lengths, in characters. */
const MAX_ID_CHARS = 100
const MAX_VERSION_CHARS = 50
const MAX_PLUGINS = 100

const OperationEntry = z.strictObject({
  name: OperationName,
  enabled: z.boolean().nullish(),
  requires_approval: z.boolean().nullish(),
  decided_by: DeciderWord.nullish(),
  never_by_starter: z.boolean().nullish(),
})

const ToolEntry = z.strictObject({
  tool_class: ToolName,
  enabled: z.boolean().default(true),
  settings: objectOf('settings')
    .default({})
    .describe('What is set on the agent itself, by key. Passwords have no place in a template.'),
  operations: z
    .array(OperationEntry)
    .default([])
    .describe('What is decided of single operations; null or absent inherits.'),
})

export const TemplateBody = z
  .strictObject({
    id: z.string().min(1).max(MAX_ID_CHARS),
    version: z.string().min(1).max(MAX_VERSION_CHARS),
    agent: TemplateAgent,
    tools: z.array(ToolEntry).default([]),
    required_plugins: z.array(z.string()).max(MAX_PLUGINS).default([]),
  })
  .meta({
    id: 'AgentTemplate',
    description: 'An agent with its tools, as it goes from one instance to another.',
    examples: [
      {
        id: 'clerk',
        version: '1',
        agent: { name: 'Clerk', model: { provider: 'rehearsal', name: 'script' } },
        tools: [{ tool_class: 'time', settings: { timezone: 'Europe/Rome' } }],
      },
    ],
  })
export type TemplateBody = z.infer<typeof TemplateBody>

/** What an export answers: what an import takes, and only what is said. */
export const TemplateView = z
  .object({
    id: z.string(),
    version: z.string(),
    agent: z.record(z.string(), z.unknown()),
    tools: z.array(
      z.object({
        tool_class: z.string(),
        enabled: z.boolean(),
        settings: z.record(z.string(), SettingValue),
        operations: z.array(
          z.object({
            name: z.string(),
            enabled: z.boolean().optional(),
            requires_approval: z.boolean().optional(),
            decided_by: DeciderWord.optional(),
            never_by_starter: z.boolean().optional(),
          }),
        ),
      }),
    ),
    required_plugins: z.array(z.string()),
  })
  .meta({ id: 'ExportedTemplate', description: 'What POST /agent-templates/import takes.' })
export type TemplateView = z.infer<typeof TemplateView>

/** The tools of a template in our own words. */
export const templateTools = ({ tools }: TemplateBody): TemplateTool[] =>
  tools.map(({ tool_class: name, enabled, settings, operations }) => ({
    name,
    enabled,
    settings,
    operations: operations.map(({ name: operation, ...override }) => ({
      name: operation,
      ...overrideOf(override),
    })),
  }))

/**
 * An agent as a template: what was decided of it and its tools, with its own settings if asked for,
 * and never a password. What is declared no more is left out.
 */
export const presentTemplate = async (
  agent: Agent,
  registry: ToolRegistry,
  { withSettings }: { withSettings: boolean },
): Promise<TemplateView> => {
  const rows = new Map((await listAgentTools(agent.id)).map(row => [row.tool, row]))
  const declared = await allTools(registry)
  const settings = withSettings ? await ownSettings(agent, declared) : new Map()
  const tools = declared
    .filter(({ name }) => rows.has(name) || settings.has(name))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  return {
    ...(agent.template ?? { id: agent.id, version: String(agent.version) }),
    agent: presentTemplateAgent(agent),
    tools: tools.map(tool => ({
      tool_class: tool.name,
      enabled: rows.get(tool.name)?.enabled ?? false,
      settings: settings.get(tool.name) ?? {},
      operations: presentOverrides(tool, rows.get(tool.name)),
    })),
    required_plugins: [],
  }
}

const presentTemplateAgent = (agent: Agent): Record<string, unknown> => {
  const {
    id: _,
    principal_id: __,
    version: ___,
    created_at: ____,
    model,
    ...rest
  } = presentAgent(agent)
  const own = configurationOf(agent) === undefined ? { model: said({ ...model }) } : {}
  return { ...said(rest), ...own }
}

const said = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

const presentOverrides = (
  tool: Tool,
  row: AgentTool | undefined,
): TemplateView['tools'][number]['operations'] =>
  Object.entries(row?.operations ?? {})
    .filter(([name]) => Object.hasOwn(tool.operations, name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { enabled, requiresApproval, decidedBy, neverByStarter }]) => ({
      name,
      ...(enabled === undefined ? {} : { enabled }),
      ...(requiresApproval === undefined ? {} : { requires_approval: requiresApproval }),
      ...(decidedBy === undefined ? {} : { decided_by: decidedBy }),
      ...(neverByStarter === undefined ? {} : { never_by_starter: neverByStarter }),
    }))

/** What is set on an agent itself, by tool and key; tools without any are left out. */
const ownSettings = async (agent: Agent, tools: Tool[]) => {
  const found = await batchGet(tools.map(({ name }) => layerKey(name, agent.id)))
  return new Map(
    tools.flatMap(({ name, settings }) => {
      const entries = Object.entries(layerOf(found, name, agent.id)?.entries ?? {}).filter(
        ([key]) => Object.hasOwn(settings, key) && settings[key]?.type !== 'password',
      )
      const values = Object.fromEntries(entries.map(([key, { value }]) => [key, value]))
      return entries.length > 0 ? [[name, values] as const] : []
    }),
  )
}
