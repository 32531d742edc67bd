import { canonicalJson } from '../core/canonical-json.ts'
import { AppError } from '../core/errors.ts'
import type { Found, Key } from '../data/table.ts'
import type { Tool } from '../tool/define.ts'
import { invalidValue, type SettingDefinition, type SettingValue } from '../tool/setting.ts'
import type { Names } from './agent-ids.ts'
import {
  type Entry,
  kindOfLayer,
  type LayerKind,
  type LayerOwner,
  layerKey,
  layerOf,
  MASK,
  ownersOf,
  type Scope,
} from './layer.ts'
import { decrypt, fingerprint } from './secret.ts'

export type { Scope } from './layer.ts'

export type Source = 'default' | LayerKind

/** A setting's effective value (a password still sealed) and where it comes from. */
export type Effective = {
  definition: SettingDefinition
  value: SettingValue | undefined
  source?: Source
  owner?: LayerOwner
  updatedAt?: string
  updatedBy?: string
}

/** The items that a tool's cascade needs, for a batched read; the weakest layer comes first. */
export const cascadeKeys = (tool: string, scope: Scope): Key[] =>
  ownersOf(scope).map(owner => layerKey(tool, owner))

/** Every setting of a tool as it stands for a scope, with its source: later layers win. */
export const cascade = (tool: Tool, found: Found, scope: Scope): Record<string, Effective> => {
  const layers = ownersOf(scope).map(owner => ({ owner, layer: layerOf(found, tool.name, owner) }))
  return Object.fromEntries(
    Object.entries(tool.settings).map(([key, definition]) => {
      const winner = layers.findLast(({ layer }) => layer?.entries[key])
      const entry: Entry | undefined = winner?.layer?.entries[key]
      if (winner && entry)
        return [
          key,
          { definition, ...entry, source: kindOfLayer(winner.owner), owner: winner.owner },
        ]
      const fallback = definition.default
      return [
        key,
        { definition, value: fallback, ...(fallback === undefined ? {} : { source: 'default' }) },
      ]
    }),
  )
}

/** The required settings that have no value: while there are any, the tool can't run. */
export const missingSettings = (effective: Record<string, Effective>): string[] =>
  Object.entries(effective).flatMap(([key, { definition, value }]) =>
    definition.required && value === undefined ? key : [],
  )

/** What a tool's code gets, the secrets among it, and a fingerprint of all. */
export type OpenedSettings = {
  values: Record<string, SettingValue | undefined>
  secrets: string[]
  fingerprint: string
}

/**
 * Opens the passwords. A value that can't be decrypted is DECRYPTION_FAILED, one that is no
 * longer valid VALIDATION_ERROR; both name the key and the layer, and no lower layer steps in.
 */
export const openSettings = (tool: Tool, effective: Record<string, Effective>): OpenedSettings => {
  const secrets: string[] = []
  const values = Object.fromEntries(
    Object.entries(effective).map(([key, setting]) => {
      const value = openSetting(tool.name, key, setting)
      if (setting.definition.type === 'password' && value) secrets.push(String(value))
      return [key, value]
    }),
  )
  return { values, secrets, fingerprint: fingerprint(canonicalJson([tool.name, values])) }
}

/**
 * The lines at the end of a tool's description that tell a model how it is configured; ids stand
 * behind their names, since a model needs both.
 */
export const configurationLines = (effective: Record<string, Effective>, names: Names): string => {
  const lines = Object.values(effective)
    .filter(({ definition }) => definition.exposeToLlm)
    .map(setting => `- ${setting.definition.label}: ${shown(setting, names)}`)
  return lines.length > 0 ? ['[Effective Configuration]', ...lines].join('\n') : ''
}

/** An effective value as an answer may hold it. */
export const maskedValue = ({ definition, value }: Effective): SettingValue | null => {
  if (value === undefined) return null
  return definition.type === 'password' ? MASK : value
}

const openSetting = (
  tool: string,
  key: string,
  { definition, value, owner, source }: Effective,
) => {
  if (value === undefined || owner === undefined) return value
  const opened =
    definition.type === 'password' ? decrypt(String(value), { layer: owner, tool, key }) : value
  if (opened === undefined)
    throw new AppError(
      'DECRYPTION_FAILED',
      `The setting "${key}" of ${tool} can't be decrypted at the ${source} layer. Enter it there again.`,
    )
  const problem = invalidValue(definition, opened)
  if (problem !== undefined)
    throw new AppError(
      'VALIDATION_ERROR',
      `The setting "${key}" of ${tool} is no longer valid at the ${source} layer: it ${problem}`,
    )
  return opened
}

const shown = ({ definition, value }: Effective, names: Names): string => {
  if (value === undefined) return '(not configured)'
  const texts = [value].flat().map(String)
  return definition.resolveAs === 'agent'
    ? texts.map(id => labelOf(id, names)).join(', ')
    : texts.join(', ')
}

/** An id as a model reads it: after its name, where it has one. */
export const labelOf = (id: string, names: Names): string => {
  const { name, isKnown } = names(id)
  return isKnown ? `${name} (${id})` : name
}
