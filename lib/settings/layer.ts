import * as z from 'zod'
import type { Id } from '../core/ids.ts'
import type * as table from '../data/table.ts'
import type { SettingScope } from '../tool/setting.ts'

/** A layer of the cascade, later ones win: the instance, the owning principal, the agent. */
export const LAYER_KINDS = ['global', 'principal', 'agent'] as const
export type LayerKind = (typeof LAYER_KINDS)[number]
/** A layer's owner; `global` has none and owns itself. */
export type LayerOwner = 'global' | Id<'user'> | Id<'group'> | Id<'agent'>

/** Whose settings apply: an agent's and its principal's, or fewer where someone only looks. */
export type Scope = { principalId?: Id<'user'> | Id<'group'>; agentId?: Id<'agent'> }

const Entry = z.object({
  /** A password's ciphertext, or the value itself. */
  value: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
  updatedAt: z.iso.datetime(),
  updatedBy: z.string(),
})
export type Entry = z.infer<typeof Entry>

/** One tool's settings at one layer, each entry an attribute of its own. */
export const Layer = z.record(z.string(), z.unknown()).transform(item => ({
  /** Rises by one with each change; 0 before the first. */
  version: z.int().default(0).parse(item[VERSION]),
  entries: Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) =>
      name.startsWith(PREFIX) ? [[name.slice(PREFIX.length), Entry.parse(value)]] : [],
    ),
  ) as Record<string, Entry>,
}))
export type Layer = z.infer<typeof Layer>

const PREFIX = 'entry_'
/** The attribute that holds the entry of a key. */
export const attributeOf = (key: string): string => PREFIX + key
export const VERSION = 'version'
/** A layer that nobody has written to. */
export const EMPTY_LAYER: Layer = { version: 0, entries: {} }

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

/** Whose layers make a scope's cascade, the weakest first. */
export const ownersOf = ({ principalId, agentId }: Scope): LayerOwner[] => [
  'global',
  ...(principalId ? [principalId] : []),
  ...(agentId ? [agentId] : []),
]

/** Whose layer a scope's own is: the strongest of them. */
export const ownerOf = ({ principalId, agentId }: Scope): LayerOwner =>
  agentId ?? principalId ?? 'global'

/** The layers at which a setting of this scope may be edited. */
export const layersOf = (scope: SettingScope = 'any'): readonly LayerKind[] => {
  switch (scope) {
    case 'any':
      return LAYER_KINDS
    case 'principal':
      return ['principal', 'agent']
    case 'agent':
      return ['agent']
    default:
      return scope satisfies never
  }
}
