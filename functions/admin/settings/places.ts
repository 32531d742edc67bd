import { stillOf } from '../../../lib/agent/agent.ts'
import { scopeOf } from '../../../lib/call/gate.ts'
import { AppError, notFound } from '../../../lib/core/errors.ts'
import { is } from '../../../lib/data/expression.ts'
import { access, demand } from '../../../lib/http/access.ts'
import type { readableAgent } from '../../../lib/http/agent-access.ts'
import { AgentId, PrincipalId, ToolName } from '../../../lib/http/wire.ts'
import type { Permission } from '../../../lib/principal/permission.ts'
import { principalExists, principalKey } from '../../../lib/principal/principal.ts'
import type { Scope } from '../../../lib/settings/layer.ts'
import type { writeLayer } from '../../../lib/settings/write.ts'
import type { Tool } from '../../../lib/tool/define.ts'
import { getTool } from '../../../lib/tool/registry.ts'
import { tools } from '../../tools/index.ts'

/** One layer of a tool's settings: the own one of a scope, and what says that it still is. */
export type Place = { tool: Tool; scope: Scope; owner?: Parameters<typeof writeLayer>[3]['owner'] }

export const ofInstance = access({
  who: 'An admin’s key.',
  params: { tool: ToolName },
  errors: ['FORBIDDEN', 'NOT_FOUND'],
  find: async ({ caller, params }): Promise<Place> => {
    if (caller.kind !== 'user' || caller.role !== 'admin')
      throw new AppError('FORBIDDEN', 'Only an admin of the instance governs its global settings.')
    return { tool: await getTool(tools, params.tool), scope: {} }
  },
})

/** Of a principal that there is: an admin governs everyone, and a mistyped id is no one. */
const ofPrincipal = (permission: Permission, who: string) =>
  access({
    who,
    what: 'principal',
    params: { id: PrincipalId, tool: ToolName },
    errors: permission === 'read' ? ['NOT_FOUND'] : ['NOT_FOUND', 'FORBIDDEN'],
    find: async ({ caller, params: { id, tool } }): Promise<Place> => {
      const missing = () => notFound('principal', id)
      await demand(caller, permission, { principalId: id }, missing)
      if (id !== caller.principalId && !(await principalExists(id))) throw missing()
      const holds = { check: principalKey(id), where: { pk: is.present } }
      return {
        tool: await getTool(tools, tool),
        scope: { principalId: id },
        owner: { holds, otherwise: missing },
      }
    },
  })

export const readablePrincipal = ofPrincipal(
  'read',
  'The principal’s own key, a member’s of the group, or an admin’s.',
)
export const managedPrincipal = ofPrincipal(
  'manage-settings',
  'The principal’s own key, an owner’s or admin’s of the group, or an admin’s.',
)

export const ofAgent = (rule: typeof readableAgent) =>
  access({
    ...rule,
    params: { id: AgentId, tool: ToolName },
    find: async ({ caller, params }): Promise<Place> => {
      const agent = await rule.find({ caller, params })
      const otherwise = () => notFound('agent', agent.id)
      return {
        tool: await getTool(tools, params.tool),
        scope: scopeOf(agent),
        owner: { holds: stillOf(agent), otherwise },
      }
    },
  })
