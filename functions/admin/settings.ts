import type { Context } from 'hono'
import { scopeOf } from '../../lib/call/gate.ts'
import { AppError, notFound } from '../../lib/core/errors.ts'
import { batchGet } from '../../lib/data/table.ts'
import { governedAgent } from '../../lib/http/access.ts'
import { authenticated, createApp, type Env, handlerOf } from '../../lib/http/app.ts'
import { objectOf, readBody } from '../../lib/http/request.ts'
import { type Caller, governs } from '../../lib/principal/caller.ts'
import { PrincipalId, principalExists } from '../../lib/principal/principal.ts'
import {
  cascade,
  cascadeKeys,
  type Effective,
  maskedValue,
  missingSettings,
  type Scope,
} from '../../lib/settings/cascade.ts'
import { type LayerOwner, writeLayer } from '../../lib/settings/layer.ts'
import type { Tool } from '../../lib/tool/define.ts'
import { getTool } from '../../lib/tool/registry.ts'
import { tools } from '../tools/index.ts'

/** One layer of a tool's settings: whose it is, and as whom it is read. */
type Place = { owner: LayerOwner; scope: Scope }

const Changes = objectOf('settings')

const layers: { path: string; placeOf: (context: Context<Env>) => Promise<Place> | Place }[] = [
  {
    path: '/api/v1/tools/:tool/settings',
    placeOf: context => {
      const caller = context.get('caller')
      if (caller.kind !== 'user' || caller.role !== 'admin')
        throw new AppError(
          'FORBIDDEN',
          'Only an admin of the instance governs its global settings.',
        )
      return { owner: 'global', scope: {} }
    },
  },
  {
    path: '/api/v1/principals/:id/tools/:tool/settings',
    placeOf: async context => {
      const principalId = await governedPrincipal(
        context.get('caller'),
        context.req.param('id') ?? '',
      )
      return { owner: principalId, scope: { principalId } }
    },
  },
  {
    path: '/api/v1/agents/:id/tools/:tool/settings',
    placeOf: async context => {
      const agent = await governedAgent(context)
      return { owner: agent.id, scope: scopeOf(agent) }
    },
  },
]

const app = createApp()
for (const { path, placeOf } of layers) {
  app.get(path, authenticated, async context => {
    const { scope } = await placeOf(context)
    const tool = await getTool(tools, context.req.param('tool') ?? '')
    return context.json({ data: await presentSettings(tool, scope) })
  })
  app.put(path, authenticated, async context => {
    const { owner, scope } = await placeOf(context)
    const tool = await getTool(tools, context.req.param('tool') ?? '')
    await writeLayer(tool, owner, await readBody(context, Changes), {
      by: context.get('caller').id,
    })
    return context.json({ data: await presentSettings(tool, scope) })
  })
}

export const handler = handlerOf(app)

/** A principal that there is: an admin governs everyone, and a mistyped id is no one. */
const governedPrincipal = async (caller: Caller, text: string): Promise<PrincipalId> => {
  const parsed = PrincipalId.safeParse(text)
  if (!parsed.success || !governs(caller, parsed.data)) throw notFound('principal', text)
  if (parsed.data !== caller.principalId && !(await principalExists(parsed.data)))
    throw notFound('principal', text)
  return parsed.data
}

/** What holds for a scope, each value with its source; passwords masked. */
const presentSettings = async (tool: Tool, scope: Scope) => {
  const effective = cascade(tool, await batchGet(cascadeKeys(tool.name, scope)), scope)
  return {
    tool: tool.name,
    missing_required: missingSettings(effective),
    settings: Object.fromEntries(
      Object.entries(effective).map(([key, setting]) => [key, presentSetting(setting)]),
    ),
  }
}

const presentSetting = (setting: Effective) => ({
  value: maskedValue(setting),
  source: setting.source ?? null,
  updated_at: setting.updatedAt ?? null,
  updated_by: setting.updatedBy ?? null,
})
