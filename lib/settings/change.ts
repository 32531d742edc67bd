import type { AuditEntry } from '../audit/audit.ts'
import { invalid, type Problem } from '../core/problems.ts'
import type { Tool } from '../tool/define.ts'
import { invalidValue, type SettingDefinition, type SettingValue } from '../tool/setting.ts'
import { type AgentReader, agentIdsIn, isKnownTo } from './agent-ids.ts'
import {
  attributeOf,
  type Entry,
  kindOfLayer,
  type Layer,
  layersOf,
  MASK,
  ownerOf,
  type Scope,
} from './layer.ts'
import { encrypt } from './secret.ts'

/** Keys that one change may name: each is audited in its transaction, of which DynamoDB takes 100 writes. */
export const MAX_CHANGES = 90
/** One layer of one tool at most, in bytes of its values: an item of DynamoDB holds 400 KB. */
export const MAX_LAYER_BYTES = 300 * 1024
/** What an entry takes beside its value: its key, who and when. */
const ENTRY_BYTES = 256

/** What a change does to a layer's item, and what is logged of it. */
export type LayerChange = {
  set: Record<string, Entry>
  remove: string[]
  log: Pick<AuditEntry, 'action' | 'field' | 'from' | 'to'>[]
}

/**
 * Checks a change of one tool's settings at a scope's own layer, as it stands: `null` and `""`
 * remove a value, `***` keeps a password. An unknown key, a value of the wrong shape, an agent of
 * someone else, a layer where a key has no place, or too much of it all is VALIDATION_ERROR, with
 * every problem listed.
 */
export const planChange = async (
  tool: Tool,
  { scope, layer, readAgents }: { scope: Scope; layer: Layer; readAgents: AgentReader },
  changes: Record<string, unknown>,
  author: { by: string; at: string },
): Promise<LayerChange> => {
  const keys = Object.keys(changes)
  if (keys.length > MAX_CHANGES)
    throw invalid(NOTHING, [
      { field: 'settings', message: `are ${keys.length}; send at most ${MAX_CHANGES} at once.` },
    ])
  const strangers = await strangersIn(tool, { scope, readAgents }, changes)
  const problems = keys.flatMap((field): Problem[] => {
    const message =
      problemWith(tool, field, { scope, layer, value: changes[field] }) ?? strangers.get(field)
    return message === undefined ? [] : [{ field, message }]
  })
  if (problems.length > 0) throw invalid(NOTHING, problems)
  const change = changeOf(tool, { scope, layer }, changes, author)
  const bytes = bytesAfter(layer, change)
  if (bytes > MAX_LAYER_BYTES)
    throw invalid(NOTHING, [
      {
        field: 'settings',
        message: `of ${tool.name} would take ${bytes} bytes at this layer; at most ${MAX_LAYER_BYTES} fit. Shorten or remove some.`,
      },
    ])
  return change
}

const NOTHING = 'Nothing was saved.'

const isRemoval = (value: unknown): boolean => value === null || value === ''

const isKept = (definition: SettingDefinition | undefined, value: unknown): boolean =>
  definition?.type === 'password' && value === MASK

const definitionOf = (tool: Tool, key: string): SettingDefinition | undefined =>
  Object.hasOwn(tool.settings, key) ? tool.settings[key] : undefined

const changeOf = (
  tool: Tool,
  { scope, layer }: { scope: Scope; layer: Layer },
  changes: Record<string, unknown>,
  { by, at }: { by: string; at: string },
): LayerChange => {
  const change: LayerChange = { set: {}, remove: [], log: [] }
  for (const [key, value] of Object.entries(changes)) {
    const definition = definitionOf(tool, key)
    const old = Object.hasOwn(layer.entries, key) ? layer.entries[key] : undefined
    if (isKept(definition, value) || (isRemoval(value) && !old)) continue
    const told = toldBy(definition)
    const field = `${tool.name}.${key}`
    const from = old ? { from: told(old.value) } : {}
    if (isRemoval(value)) {
      change.remove.push(key)
      change.log.push({ action: 'setting-removed', field, ...from })
      continue
    }
    const place = { layer: ownerOf(scope), tool: tool.name, key }
    const stored = definition?.type === 'password' ? encrypt(String(value), place) : value
    change.set[key] = { value: stored as SettingValue, updatedAt: at, updatedBy: by }
    change.log.push({
      action: 'setting-changed',
      field,
      ...from,
      to: told(value as SettingValue),
    })
  }
  return change
}

/** What the log says of a value. What nobody declares any more may have been a password. */
const toldBy = (definition: SettingDefinition | undefined) => (value: SettingValue) =>
  definition === undefined || definition.type === 'password' ? MASK : value

const bytesAfter = (layer: Layer, { set, remove }: LayerChange): number => {
  const after = Object.entries({ ...layer.entries, ...set }).filter(
    ([key]) => !remove.includes(key),
  )
  return after.reduce(
    (sum, [, { value }]) => sum + ENTRY_BYTES + Buffer.byteLength(JSON.stringify(value)),
    0,
  )
}

const problemWith = (
  tool: Tool,
  key: string,
  { scope, layer, value }: { scope: Scope; layer: Layer; value: unknown },
): string | undefined => {
  // What is there can go, whoever let it in.
  if (isRemoval(value) && Object.hasOwn(layer.entries, key)) return undefined
  const definition = definitionOf(tool, key)
  if (!definition) {
    const known = Object.keys(tool.settings)
    return known.length > 0
      ? `is no setting of ${tool.name}, which has: ${known.join(', ')}.`
      : `is no setting of ${tool.name}, which has none.`
  }
  if (isRemoval(value)) return undefined
  const kind = kindOfLayer(ownerOf(scope))
  if (!layersOf(definition.scope).includes(kind))
    return `has no place at the ${kind} layer; set it ${definition.scope === 'agent' ? 'on the agent' : 'for the principal or on the agent'}.`
  return isKept(definition, value) ? undefined : invalidValue(definition, value)
}

/** The keys whose new values name agents that are not the scope's principal's, each with the words. */
const strangersIn = async (
  tool: Tool,
  { scope, readAgents }: { scope: Scope; readAgents: AgentReader },
  changes: Record<string, unknown>,
): Promise<Map<string, string>> => {
  const named = Object.entries(changes).flatMap(([key, value]) => {
    const ids = agentIdsIn(definitionOf(tool, key), value)
    return ids.length > 0 ? [{ key, ids }] : []
  })
  if (named.length === 0) return new Map()
  const agents = await readAgents([...new Set(named.flatMap(({ ids }) => ids))])
  return new Map(
    named.flatMap(({ key, ids }) => {
      const strangers = ids.filter(id => !isKnownTo(scope, agents.get(id)))
      return strangers.length === 0
        ? []
        : [
            [
              key,
              `names agents that are not there or not of the same owner: ${strangers.join(', ')}.`,
            ],
          ]
    }),
  )
}

/** The attributes of a layer's item that a change writes. */
export const attributesOf = ({ set, remove }: LayerChange) => ({
  set: Object.fromEntries(Object.entries(set).map(([key, entry]) => [attributeOf(key), entry])),
  remove: remove.map(attributeOf),
})
