import * as z from 'zod'
import { type Author, auditWrite } from '../audit/audit.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import { is, type Where } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import type { DecisionPolicy } from '../principal/decider.ts'
import type { PrincipalId } from '../principal/principal.ts'
import type { Operation } from '../tool/define.ts'
import { DECIDERS } from '../tool/words.ts'
import { stillOf } from './agent.ts'

/** What an operator decided of an operation; what is absent is inherited from its declaration. */
export const OperationOverride = z.object({
  enabled: z.boolean().optional(),
  requiresApproval: z.boolean().optional(),
  /** Who approves and rejects its calls: the least role, and whether never who started the task. */
  decidedBy: z.enum(DECIDERS).optional(),
  neverByStarter: z.boolean().optional(),
})
export type OperationOverride = z.infer<typeof OperationOverride>

/**
 * One tool of one agent. While it isn't enabled, its overrides and settings wait unused. Each
 * field of an override is an attribute of its own, so that two operators' writes don't collide.
 */
const AgentTool = z
  .looseObject({
    agentId: idOf('agent'),
    tool: z.string(),
    enabled: z.boolean().default(false),
    updatedAt: z.iso.datetime(),
    updatedBy: z.string(),
  })
  .transform(({ agentId, tool, enabled, updatedAt, updatedBy, ...rest }) => {
    const operations: Record<string, OperationOverride> = {}
    for (const [name, value] of Object.entries(rest))
      for (const field of OVERRIDE_FIELDS) {
        const prefix = `${field}#`
        if (!name.startsWith(prefix)) continue
        const operation = name.slice(prefix.length)
        operations[operation] = {
          ...operations[operation],
          [field]: OverrideShape[field].parse(value),
        }
      }
    return { agentId, tool, enabled, updatedAt, updatedBy, operations }
  })
export type AgentTool = z.infer<typeof AgentTool>

const OverrideShape = OperationOverride.shape
type OverrideField = keyof OperationOverride
const OVERRIDE_FIELDS = Object.keys(OverrideShape) as OverrideField[]
/** What an attribute of an override holds. */
type Held = boolean | string

// Access patterns: one tool of an agent, in the gate's batched read; all tools of an agent.
export const agentToolKey = (agentId: Id<'agent'>, tool: string): table.Key => ({
  pk: agentId,
  sk: `tool#${tool}`,
})

export const agentToolOf = (found: table.Found, agentId: Id<'agent'>, tool: string) =>
  found.get(AgentTool, agentToolKey(agentId, tool))

/** What an agent has of one tool, or undefined where nobody has said anything of it. */
export const getAgentTool = (agentId: Id<'agent'>, tool: string) =>
  table.get(AgentTool, agentToolKey(agentId, tool))

export const listAgentTools = (agentId: Id<'agent'>): Promise<AgentTool[]> =>
  table.queryAll(AgentTool, { pk: agentId, prefix: 'tool#' })

/** What an operator decides of a tool; `null` lifts an override, and what is absent stays. */
export type ToolChanges = {
  enabled?: boolean
  operations?: Record<string, OperationChanges>
}
export type OperationChanges = {
  [Field in OverrideField]?: OperationOverride[Field] | null | undefined
}

/**
 * Changes what an agent has of a tool, with an entry in the log of its principal; what is so already
 * is no change. NOT_FOUND where the agent is gone, or another's by now.
 */
export const changeAgentTool = async (
  agent: Owner,
  tool: string,
  changes: ToolChanges,
  author: Author,
): Promise<AgentTool> => {
  const { by, clock = systemClock } = author
  for (let attempt = 1; attempt <= CHANGE_ATTEMPTS; attempt++) {
    const current = await getAgentTool(agent.id, tool)
    const writes = agentToolWrites(agent, tool, { current, changes }, author)
    if (writes.length === 0) return current ?? untouched(agent.id, tool, { by, clock })
    const outcome = await transact([stillOf(agent), ...writes])
    const written = outcome.ok && (await getAgentTool(agent.id, tool))
    if (written) return written
    if (outcome.ok || outcome.failed.includes(0)) throw notFound('agent', agent.id)
  }
  throw new AppError(
    'INVALID_STATE',
    'Others change this tool of the agent all the time. Try again.',
  )
}

type Owner = { id: Id<'agent'>; principalId: PrincipalId }

/**
 * What changes of a tool write, as parts of a transaction: its row as it was read, and an entry in
 * the log. Nothing where all is so already.
 */
export const agentToolWrites = (
  agent: Owner,
  tool: string,
  { current, changes }: { current: AgentTool | undefined; changes: ToolChanges },
  { by, keyId, clock = systemClock }: Author,
): TransactionWrite[] => {
  const attributes = attributesOf(changes)
  const held = current ? attributesOf(current) : {}
  const changed = Object.keys(attributes).filter(
    name => (attributes[name] ?? null) !== (held[name] ?? null),
  )
  if (changed.length === 0) return []
  const told = (from: Record<string, Held | null>) =>
    Object.fromEntries(changed.map(name => [toldName(name), from[name] ?? null]))
  return [
    toolWrite(agent.id, tool, {
      changes: Object.fromEntries(changed.map(name => [name, attributes[name] ?? null])),
      // What the entry tells as it was is as it was; changes of other things don't collide.
      where: stillHeld(Object.fromEntries(changed.map(name => [name, held[name] ?? is.absent]))),
      by,
      clock,
    }),
    auditWrite(
      agent.principalId,
      {
        by,
        ...(keyId ? { keyId } : {}),
        action: 'agent-tool-changed',
        target: agent.id,
        field: tool,
        from: told(held),
        to: told(attributes),
      },
      clock,
    ),
  ]
}

/** Of a tool that nobody ever enabled the attribute may be missing as well. */
const stillHeld = ({ enabled, ...others }: Where): Where => {
  if (enabled === undefined || enabled === true) return { enabled, ...others }
  return { any: [{ enabled: false }, { enabled: is.absent }], ...others }
}

/** A tool of which nobody has said anything yet. */
const untouched = (
  agentId: Id<'agent'>,
  tool: string,
  { by, clock = systemClock }: Author,
): AgentTool => ({
  agentId,
  tool,
  enabled: false,
  updatedAt: isoNow(clock),
  updatedBy: by,
  operations: {},
})

/** How often a change is tried while others change the same. */
const CHANGE_ATTEMPTS = 8

/** The row of a tool that a new agent has, as a part of the transaction that makes the agent. */
export const newAgentTool = (
  agentId: Id<'agent'>,
  tool: string,
  changes: ToolChanges,
  { by, clock = systemClock }: Author,
): TransactionWrite =>
  toolWrite(agentId, tool, { changes: attributesOf(changes), where: {}, by, clock })

/** What holds for an operation of an agent: the override where there is one, else the default. */
export const effectiveOperation = (operation: Operation, override: OperationOverride = {}) => ({
  enabled: override.enabled ?? operation.enabledByDefault,
  requiresApproval: override.requiresApproval ?? operation.requiresApprovalByDefault,
  ...decisionPolicy(operation, override),
})

/** Who decides about an operation's calls; of one that is declared no more, as is usual. */
export const decisionPolicy = (
  operation: Pick<Operation, 'decidedByDefault' | 'neverByStarterByDefault'> | undefined,
  { decidedBy, neverByStarter }: OperationOverride = {},
): DecisionPolicy => ({
  decidedBy: decidedBy ?? operation?.decidedByDefault ?? 'admin',
  neverByStarter: neverByStarter ?? operation?.neverByStarterByDefault ?? false,
})

/** Whether changes say who decides about an operation's calls. */
export const changesDeciders = ({ decidedBy, neverByStarter }: OperationChanges): boolean =>
  decidedBy !== undefined || neverByStarter !== undefined

/** Who lifts the approval of an operation decides about all its calls, before there is any. */
export const liftsApproval = (operation: Operation, { requiresApproval }: OperationChanges) =>
  requiresApproval === false || (requiresApproval === null && !operation.requiresApprovalByDefault)

/** Decisions by the attributes that hold them; `null` is an override that is lifted. */
const attributesOf = ({ enabled, operations = {} }: ToolChanges): Record<string, Held | null> => {
  const attributes: Record<string, Held | null> = {}
  if (enabled !== undefined) attributes.enabled = enabled
  for (const [operation, override] of Object.entries(operations))
    for (const field of OVERRIDE_FIELDS) {
      const value = override[field]
      if (value !== undefined) attributes[`${field}#${operation}`] = value
    }
  return attributes
}

/** As people read it: `enabled`, `send.requires_approval`. */
const toldName = (attribute: string): string => {
  const [field = '', operation] = attribute.split('#')
  return operation === undefined ? field : `${operation}.${TOLD_FIELDS[field as OverrideField]}`
}
const TOLD_FIELDS = {
  enabled: 'enabled',
  requiresApproval: 'requires_approval',
  decidedBy: 'decided_by',
  neverByStarter: 'never_by_starter',
} as const satisfies Record<OverrideField, string>

const toolWrite = (
  agentId: Id<'agent'>,
  tool: string,
  {
    changes,
    where,
    by,
    clock,
  }: { changes: Record<string, Held | null>; where: Where; by: string; clock: Clock },
): TransactionWrite => {
  const entries = Object.entries(changes)
  return {
    key: agentToolKey(agentId, tool),
    update: {
      set: {
        agentId,
        tool,
        ...Object.fromEntries(entries.filter(([, value]) => value !== null)),
        updatedAt: isoNow(clock),
        updatedBy: by,
      },
      remove: entries.flatMap(([name, value]) => (value === null ? name : [])),
    },
    where,
    create: true,
  }
}
