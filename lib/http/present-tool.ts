import * as z from 'zod'
import { LAYER_KINDS, layersOf } from '../settings/layer.ts'
import type { Operation, Tool } from '../tool/define.ts'
import { mcpAnnotations } from '../tool/dialect/mcp.ts'
import { operationSchema } from '../tool/schema.ts'
import type { SettingDefinition } from '../tool/setting.ts'
import { CATEGORIES, EFFECTS, SETTING_TYPES } from '../tool/words.ts'
import { JsonSchema, SettingValue } from './wire.ts'

export const Category = z.enum(CATEGORIES).meta({ id: 'Category' })

const OperationView = z
  .object({
    name: z.string(),
    description: z.string(),
    enabledByDefault: z.boolean(),
    requiresApprovalByDefault: z.boolean(),
    discriminatorKey: z.string().describe('The argument by which models name the operation.'),
    effect: z
      .enum(EFFECTS)
      .describe('What a repeat does: nothing, the same effect again, or a second one.'),
    parameter_schema: JsonSchema,
  })
  .meta({ id: 'Operation' })

export const SettingView = z
  .object({
    key: z.string(),
    type: z.enum(SETTING_TYPES),
    label: z.string(),
    description: z.string().nullable(),
    required: z.boolean(),
    default: SettingValue.nullable().describe('A password’s is told to nobody.'),
    options: z.array(z.string()).nullable(),
    scope: z.enum(['any', 'principal', 'agent']).describe('Where it may be edited.'),
    layers: z.array(z.enum(LAYER_KINDS)).describe('The layers that it may be edited at.'),
    expose_to_llm: z.boolean(),
    resolve_as: z.enum(['agent', 'skill', 'raw']).describe('What the ids in its value name.'),
    enum_for: z
      .string()
      .nullable()
      .describe('The parameter that models may give these values alone.'),
  })
  .meta({ id: 'SettingDefinition' })

const Annotations = z
  .object({
    title: z.string().optional(),
    readOnlyHint: z.boolean(),
    destructiveHint: z.boolean(),
    idempotentHint: z.boolean(),
    openWorldHint: z.boolean(),
  })
  .meta({ id: 'ToolAnnotations', description: 'What clients of MCP are told of all operations.' })

export const ToolView = z
  .object({
    tool_class: z.string().describe('The qualified name.'),
    tool_name: z.string(),
    display_name: z.string(),
    description: z.string(),
    category: Category,
    icon: z.string().nullable(),
    recommends_skills: z.array(z.string()),
    annotations: Annotations,
    operations: z.array(OperationView),
    settings: z.array(SettingView),
  })
  .meta({ id: 'Tool' })
export type ToolView = z.infer<typeof ToolView>

/** A tool on the wire, as it was declared. */
export const presentTool = (tool: Tool): ToolView => ({
  tool_class: tool.name,
  tool_name: tool.name,
  display_name: tool.displayName,
  description: tool.description,
  category: tool.category,
  icon: tool.icon ?? null,
  recommends_skills: [...tool.recommendsSkills],
  annotations: mcpAnnotations(Object.values(tool.operations), tool.displayName),
  operations: Object.values(tool.operations).map(operation => presentOperation(tool, operation)),
  settings: Object.entries(tool.settings).map(presentDefinition),
})

const presentOperation = (tool: Tool, operation: Operation): ToolView['operations'][number] => ({
  name: operation.name,
  description: operation.description,
  enabledByDefault: operation.enabledByDefault,
  requiresApprovalByDefault: operation.requiresApprovalByDefault,
  discriminatorKey: tool.discriminator,
  effect: operation.effect,
  parameter_schema: operationSchema(operation),
})

export const presentDefinition = ([key, definition]: [
  string,
  SettingDefinition,
]): ToolView['settings'][number] => {
  const value = definition.type === 'password' ? undefined : definition.default
  return {
    key,
    type: definition.type,
    label: definition.label,
    description: definition.description ?? null,
    required: definition.required ?? false,
    default: value ?? null,
    options: definition.options ? [...definition.options] : null,
    scope: definition.scope ?? 'any',
    layers: [...layersOf(definition.scope)],
    expose_to_llm: definition.exposeToLlm ?? false,
    resolve_as: definition.resolveAs ?? 'raw',
    enum_for: definition.enumFor ?? null,
  }
}
