import { authenticated, createApp, handlerOf } from '../../lib/http/app.ts'
import type { Tool } from '../../lib/tool/define.ts'
import { allTools } from '../../lib/tool/registry.ts'
import { operationSchema } from '../../lib/tool/schema.ts'
import { tools } from '../tools/index.ts'

const app = createApp().get('/api/v1/tools', authenticated, async context =>
  context.json({ data: (await allTools(tools)).map(presentTool) }),
)

export const handler = handlerOf(app)

const presentTool = (tool: Tool) => ({
  tool_class: tool.name,
  tool_name: tool.name,
  display_name: tool.displayName,
  description: tool.description,
  category: tool.category,
  icon: tool.icon ?? null,
  recommends_skills: tool.recommendsSkills,
  operations: Object.values(tool.operations).map(operation => ({
    name: operation.name,
    description: operation.description,
    enabledByDefault: operation.enabledByDefault,
    requiresApprovalByDefault: operation.requiresApprovalByDefault,
    discriminatorKey: tool.discriminator,
    effect: operation.effect,
    parameter_schema: operationSchema(operation),
  })),
  settings: Object.entries(tool.settings).map(([key, definition]) => ({
    key,
    type: definition.type,
    label: definition.label,
    description: definition.description ?? null,
    required: definition.required ?? false,
    default: (definition.type === 'password' ? undefined : definition.default) ?? null,
    options: definition.options ?? null,
    scope: definition.scope ?? 'any',
    expose_to_llm: definition.exposeToLlm ?? false,
    resolve_as: definition.resolveAs ?? 'raw',
  })),
})
