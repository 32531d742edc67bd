import * as z from 'zod'
import { batchGet } from '../data/table.ts'
import {
  cascade,
  cascadeKeys,
  type Effective,
  maskedValue,
  missingSettings,
  type Scope,
} from '../settings/cascade.ts'
import type { Tool } from '../tool/define.ts'
import { SettingValue, Time } from './wire.ts'

const EffectiveView = z
  .object({
    value: SettingValue.nullable().describe('A password reads as ***.'),
    source: z
      .enum(['default', 'global', 'principal', 'agent'])
      .nullable()
      .describe('The layer that the value comes from.'),
    updated_at: Time.nullable(),
    updated_by: z.string().nullable(),
  })
  .meta({ id: 'EffectiveSetting' })

export const SettingsView = z
  .object({
    tool: z.string(),
    missing_required: z.array(z.string()),
    settings: z.record(z.string(), EffectiveView),
  })
  .meta({ id: 'Settings', description: 'A tool’s settings as they hold somewhere.' })
export type SettingsView = z.infer<typeof SettingsView>

/** What holds for a scope, each value with its source; passwords masked. */
export const presentSettings = async (tool: Tool, scope: Scope): Promise<SettingsView> => {
  const effective = cascade(tool, await batchGet(cascadeKeys(tool.name, scope)), scope)
  return {
    tool: tool.name,
    missing_required: missingSettings(effective),
    settings: Object.fromEntries(
      Object.entries(effective).map(([key, setting]) => [key, presentSetting(setting)]),
    ),
  }
}

const presentSetting = (setting: Effective): SettingsView['settings'][string] => ({
  value: maskedValue(setting),
  source: setting.source ?? null,
  updated_at: setting.updatedAt ?? null,
  updated_by: setting.updatedBy ?? null,
})
