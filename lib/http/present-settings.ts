import * as z from 'zod'
import { getAgents } from '../agent/agent.ts'
import { batchGet } from '../data/table.ts'
import { agentIdsIn, type Names, readNames } from '../settings/agent-ids.ts'
import {
  cascade,
  cascadeKeys,
  type Effective,
  maskedValue,
  missingSettings,
} from '../settings/cascade.ts'
import {
  EMPTY_LAYER,
  kindOfLayer,
  LAYER_KINDS,
  layerOf,
  ownerOf,
  type Scope,
} from '../settings/layer.ts'
import type { Tool } from '../tool/define.ts'
import { presentDefinition, SettingView } from './present-tool.ts'
import { SettingValue, Time } from './wire.ts'

const EffectiveView = SettingView.extend({
  value: SettingValue.nullable().describe('A password reads as ***.'),
  names: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .nullable()
    .describe('What the ids in the value name; one that names nothing of the owner’s reads #id.'),
  source: z
    .enum(['default', ...LAYER_KINDS])
    .nullable()
    .describe('The layer that the value comes from.'),
  updated_at: Time.nullable(),
  updated_by: z.string().nullable(),
}).meta({ id: 'EffectiveSetting' })

export const SettingsView = z
  .object({
    tool: z.string(),
    layer: z.enum(LAYER_KINDS),
    version: z.int().describe('Of this layer; it is the ETag, too, and rises with each change.'),
    missing_required: z.array(z.string()).describe('What the tool can’t run without.'),
    ready_to_enable: z.boolean(),
    settings: z.record(z.string(), EffectiveView),
  })
  .meta({ id: 'Settings', description: 'A tool’s settings as they hold somewhere.' })
export type SettingsView = z.infer<typeof SettingsView>

/**
 * What holds for a scope, each value with its source, or `own` values alone: those of its own
 * layer. Passwords are masked. One batched read, and another where values name agents.
 */
export const presentSettings = async (
  tool: Tool,
  scope: Scope,
  { own = false }: { own?: boolean } = {},
): Promise<SettingsView> => {
  const found = await batchGet(cascadeKeys(tool.name, scope))
  const layer = layerOf(found, tool.name, ownerOf(scope)) ?? EMPTY_LAYER
  const effective = cascade(tool, found, scope)
  const missing = missingSettings(effective)
  const shown = Object.entries(effective).filter(([key]) => !own || layer.entries[key])
  const names = await readNames(
    shown.map(([, setting]) => setting),
    scope,
    getAgents,
  )
  return {
    tool: tool.name,
    layer: kindOfLayer(ownerOf(scope)),
    version: layer.version,
    missing_required: missing,
    ready_to_enable: missing.length === 0,
    settings: Object.fromEntries(
      shown.map(([key, setting]) => [key, presentSetting(key, setting, names)]),
    ),
  }
}

const presentSetting = (
  key: string,
  setting: Effective,
  names: Names,
): SettingsView['settings'][string] => ({
  ...presentDefinition([key, setting.definition]),
  value: maskedValue(setting),
  names:
    setting.definition.resolveAs === 'agent'
      ? agentIdsIn(setting.definition, setting.value).map(id => ({ id, name: names(id).name }))
      : null,
  source: setting.source ?? null,
  updated_at: setting.updatedAt ?? null,
  updated_by: setting.updatedBy ?? null,
})
