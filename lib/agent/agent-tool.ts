import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { type Id, idOf } from '../core/ids.ts'
import * as table from '../data/table.ts'
import type { Operation } from '../tool/define.ts'

/** What an operator decided of an operation; what is absent is inherited from its declaration. */
export const OperationOverride = z.object({
  enabled: z.boolean().optional(),
  requiresApproval: z.boolean().optional(),
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
        operations[operation] = { ...operations[operation], [field]: z.boolean().parse(value) }
      }
    return { agentId, tool, enabled, updatedAt, updatedBy, operations }
  })
export type AgentTool = z.infer<typeof AgentTool>

const OVERRIDE_FIELDS = ['enabled', 'requiresApproval'] as const

// Access patterns: one tool of an agent, in the gate's batched read; all tools of an agent.
export const agentToolKey = (agentId: Id<'agent'>, tool: string): table.Key => ({
  pk: agentId,
  sk: `tool#${tool}`,
})

export const agentToolOf = (found: table.Found, agentId: Id<'agent'>, tool: string) =>
  found.get(AgentTool, agentToolKey(agentId, tool))

export const listAgentTools = (agentId: Id<'agent'>): Promise<AgentTool[]> =>
  table.queryAll(AgentTool, { pk: agentId, prefix: 'tool#' })

type Author = { by: string; clock?: Clock }

/** Enables or disables a tool for an agent; its overrides stay as they are. */
export const setEnabled = (agentId: Id<'agent'>, tool: string, enabled: boolean, author: Author) =>
  write(agentId, tool, { set: { enabled } }, author)

/** Sets what is said of one operation; `null` lifts an override, and what is absent stays. */
export const overrideOperation = (
  agentId: Id<'agent'>,
  tool: string,
  operation: string,
  changes: { enabled?: boolean | null | undefined; requiresApproval?: boolean | null | undefined },
  author: Author,
) => {
  const entries = OVERRIDE_FIELDS.map(field => [`${field}#${operation}`, changes[field]] as const)
  const set = Object.fromEntries(entries.filter(([, value]) => typeof value === 'boolean'))
  const remove = entries.flatMap(([name, value]) => (value === null ? name : []))
  return write(agentId, tool, { set, remove }, author)
}

/** What holds for an operation of an agent: the override where there is one, else the default. */
export const effectiveOperation = (operation: Operation, override: OperationOverride = {}) => ({
  enabled: override.enabled ?? operation.enabledByDefault,
  requiresApproval: override.requiresApproval ?? operation.requiresApprovalByDefault,
})

const write = (
  agentId: Id<'agent'>,
  tool: string,
  { set = {}, remove = [] }: { set?: Record<string, unknown>; remove?: string[] },
  { by, clock = systemClock }: Author,
) =>
  table.update(
    AgentTool,
    agentToolKey(agentId, tool),
    { set: { agentId, tool, ...set, updatedAt: isoNow(clock), updatedBy: by }, remove },
    { create: true },
  )
