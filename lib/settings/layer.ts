import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import { invalid, type Problem } from '../core/problems.ts'
import * as table from '../data/table.ts'
import type { Tool } from '../tool/define.ts'
import { invalidValue, type SettingDefinition, type SettingValue } from '../tool/setting.ts'
import { encrypt } from './secret.ts'

/** A layer of the cascade, later ones win: the instance, the owning principal, the agent. */
export type LayerKind = 'global' | 'principal' | 'agent'
/** A layer's owner; `global` has none and owns itself. */
export type LayerOwner = 'global' | Id<'user'> | Id<'group'> | Id<'agent'>

const Entry = z.object({
  /** A password's ciphertext, or the value itself. */
  value: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
  updatedAt: z.iso.datetime(),
  updatedBy: z.string(),
})
export type Entry = z.infer<typeof Entry>

/** One tool's settings at one layer. Each entry is an attribute of its own: writes don't collide. */
const Layer = z.record(z.string(), z.unknown()).transform(item => ({
  entries: Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) =>
      name.startsWith(PREFIX) ? [[name.slice(PREFIX.length), Entry.parse(value)]] : [],
    ),
  ) as Record<string, Entry>,
}))
export type Layer = z.infer<typeof Layer>

const PREFIX = 'entry_'
/** How a password reads in every answer; written, it keeps what is there. */
export const MASK = '***'

// Access patterns: one tool's settings at its layers, in one batched read; a function may be
// limited to its own tool's settings by the leading key.
export const layerKey = (tool: string, owner: LayerOwner): table.Key => ({
  pk: `settings#${tool}`,
  sk: owner,
})

export const layerOf = (found: table.Found, tool: string, owner: LayerOwner): Layer | undefined =>
  found.get(Layer, layerKey(tool, owner))

export const kindOfLayer = (owner: LayerOwner): LayerKind => {
  if (owner === 'global') return 'global'
  return owner.startsWith('agent_') ? 'agent' : 'principal'
}

/**
 * Replaces the named settings of one tool at one layer; `null` and `""` remove a value there, so
 * that the cascade resumes; `***` keeps a password. All changes are checked before any is
 * written: an unknown key, a value of the wrong shape or a layer where a key has no place is
 * VALIDATION_ERROR, with every problem listed.
 */
export const writeLayer = async (
  tool: Tool,
  owner: LayerOwner,
  changes: Record<string, unknown>,
  { by, clock = systemClock }: { by: string; clock?: Clock },
): Promise<void> => {
  const set: Record<string, Entry> = {}
  const remove: string[] = []
  const problems: Problem[] = []
  for (const [key, value] of Object.entries(changes)) {
    const definition = Object.hasOwn(tool.settings, key) ? tool.settings[key] : undefined
    const problem = problemWith(tool, definition, kindOfLayer(owner), value)
    if (problem !== undefined) problems.push({ field: key, message: problem })
    else if (value === null || value === '') remove.push(PREFIX + key)
    else if (definition?.type !== 'password' || value !== MASK) {
      const secret = definition?.type === 'password'
      const stored = secret ? encrypt(String(value), { layer: owner, tool: tool.name, key }) : value
      set[PREFIX + key] = { value: stored as SettingValue, updatedAt: isoNow(clock), updatedBy: by }
    }
  }
  if (problems.length > 0) throw invalid('Nothing was saved.', problems)
  if (Object.keys(set).length + remove.length === 0) return
  await table.update(Layer, layerKey(tool.name, owner), { set, remove }, { create: true })
}

const problemWith = (
  tool: Tool,
  definition: SettingDefinition | undefined,
  layer: LayerKind,
  value: unknown,
): string | undefined => {
  if (!definition) {
    const known = Object.keys(tool.settings)
    return known.length > 0
      ? `is no setting of ${tool.name}, which has: ${known.join(', ')}.`
      : `is no setting of ${tool.name}, which has none.`
  }
  const scope = definition.scope ?? 'any'
  if ((scope === 'principal' && layer === 'global') || (scope === 'agent' && layer !== 'agent'))
    return `has no place at the ${layer} layer; set it ${scope === 'agent' ? 'on the agent' : 'for the principal or on the agent'}.`
  if (value === null || value === '') return undefined
  if (definition.type === 'password' && value === MASK) return undefined
  return invalidValue(definition, value)
}
