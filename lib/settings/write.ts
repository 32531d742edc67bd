import { setTimeout as sleep } from 'node:timers/promises'
import { type AuditEntry, auditWrite } from '../audit/audit.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import type { Tool } from '../tool/define.ts'
import type { AgentReader } from './agent-ids.ts'
import { attributesOf, type LayerChange, planChange } from './change.ts'
import { EMPTY_LAYER, Layer, layerKey, ownerOf, type Scope, VERSION } from './layer.ts'

/** Who changes settings, and what they know. */
export type Author = {
  by: string
  keyId?: AuditEntry['keyId']
  readAgents: AgentReader
  /** The version that the change is meant for; any where it isn't said. */
  version?: number | undefined
  /** That the layer's owner is still there, and still governed by the same; and what if not. */
  owner?: { holds: TransactionWrite; otherwise: () => AppError }
  clock?: Clock
}

/** How often a change is made anew that met another one of the same layer. */
const ATTEMPTS = 20
const RETRY_MS = 25

/**
 * Replaces the named settings of one tool at a scope's own layer, each with an entry in the audit
 * log, or nothing at all; `planChange` says what is refused. Others' changes of the same layer
 * never go under: each change is made on the version that it was planned on, and planned anew
 * where that has passed; one that names a version is VERSION_MISMATCH there. Nothing is written for
 * an owner that is gone. Returns the layer's version.
 */
export const writeLayer = async (
  tool: Tool,
  scope: Scope,
  changes: Record<string, unknown>,
  author: Author,
): Promise<number> => change(tool, scope, () => changes, author)

/** Removes all settings of one tool at a scope's own layer, as `writeLayer` does. */
export const clearLayer = (tool: Tool, scope: Scope, author: Author): Promise<number> =>
  change(
    tool,
    scope,
    layer => Object.fromEntries(Object.keys(layer.entries).map(key => [key, null])),
    author,
  )

/** One layer as it is now. */
export const readLayer = async (tool: string, scope: Scope): Promise<Layer> =>
  (await table.get(Layer, layerKey(tool, ownerOf(scope)))) ?? EMPTY_LAYER

const change = async (
  tool: Tool,
  scope: Scope,
  changesOf: (layer: Layer) => Record<string, unknown>,
  author: Author,
): Promise<number> => {
  const { readAgents, version: wanted, owner, clock = systemClock } = author
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const layer = await readLayer(tool.name, scope)
    if (wanted !== undefined && wanted !== layer.version) throw passed(layer.version)
    const planned = await planChange(tool, { scope, layer, readAgents }, changesOf(layer), {
      by: author.by,
      at: isoNow(clock),
    })
    if (planned.log.length === 0) return layer.version
    const outcome = await transact([
      ...layerWrites(tool, { scope, layer }, planned, author),
      ...(owner ? [owner.holds] : []),
    ])
    if (outcome.ok) return layer.version + 1
    if (owner && outcome.failed.includes(planned.log.length + 1)) throw owner.otherwise()
    await sleep(Math.random() * RETRY_MS * attempt)
  }
  throw new AppError(
    'VERSION_MISMATCH',
    'These settings are changing all the time. Read them again, and try again.',
  )
}

/** A planned change as a part of a transaction: the layer, and what the log says of each key. */
export const layerWrites = (
  tool: Tool,
  { scope, layer }: { scope: Scope; layer: Layer },
  planned: LayerChange,
  { by, keyId, clock = systemClock }: Pick<Author, 'by' | 'keyId' | 'clock'>,
): TransactionWrite[] => {
  const { set, remove } = attributesOf(planned)
  const entry: Pick<AuditEntry, 'by' | 'keyId' | 'target'> = {
    by,
    ...(keyId ? { keyId } : {}),
    target: targetOf(scope),
  }
  return [
    {
      key: layerKey(tool.name, ownerOf(scope)),
      update: { set: { ...set, [VERSION]: layer.version + 1 }, remove },
      where: { [VERSION]: layer.version === 0 ? is.absent : layer.version },
      create: true,
    },
    ...planned.log.map(line =>
      auditWrite(scope.principalId ?? 'instance', { ...entry, ...line }, clock),
    ),
  ]
}

/** What the log names as changed: the agent, the principal, or the instance. */
const targetOf = ({ agentId, principalId }: Scope): string => agentId ?? principalId ?? 'instance'

const passed = (version: number): AppError =>
  new AppError(
    'VERSION_MISMATCH',
    'Someone else has changed these settings since. Read them again, and say what of your change still holds.',
    { details: { version } },
  )
