import { scopeOf } from '../../lib/call/gate.ts'
import { AppError, type ErrorCode, notFound } from '../../lib/core/errors.ts'
import { access, demand } from '../../lib/http/access.ts'
import { managedAgent, readableAgent } from '../../lib/http/agent-access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply } from '../../lib/http/endpoint.ts'
import { presentSettings, SettingsView } from '../../lib/http/present-settings.ts'
import { objectOf } from '../../lib/http/request.ts'
import { AgentId, PrincipalId, ToolName } from '../../lib/http/wire.ts'
import type { Permission } from '../../lib/principal/permission.ts'
import { principalExists } from '../../lib/principal/principal.ts'
import type { Scope } from '../../lib/settings/cascade.ts'
import { type LayerOwner, writeLayer } from '../../lib/settings/layer.ts'
import type { Tool } from '../../lib/tool/define.ts'
import { getTool } from '../../lib/tool/registry.ts'
import { tools } from '../tools/index.ts'

/** One layer of a tool's settings: whose it is, and as whom it is read. */
type Place = { tool: Tool; owner: LayerOwner; scope: Scope }

const ofInstance = access({
  who: 'An admin’s key.',
  params: { tool: ToolName },
  errors: ['FORBIDDEN', 'NOT_FOUND'],
  find: async ({ caller, params }): Promise<Place> => {
    if (caller.kind !== 'user' || caller.role !== 'admin')
      throw new AppError('FORBIDDEN', 'Only an admin of the instance governs its global settings.')
    return { tool: await getTool(tools, params.tool), owner: 'global', scope: {} }
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
      return { tool: await getTool(tools, tool), owner: id, scope: { principalId: id } }
    },
  })

const ofAgent = (rule: typeof readableAgent) =>
  access({
    ...rule,
    params: { id: AgentId, tool: ToolName },
    find: async ({ caller, params }): Promise<Place> => {
      const agent = await rule.find({ caller, params })
      return { tool: await getTool(tools, params.tool), owner: agent.id, scope: scopeOf(agent) }
    },
  })

const show = async ({ subject: { tool, scope } }: { subject: Place }) =>
  reply(200, await presentSettings(tool, scope))

/** What a layer holds from now on. */
const Changes = objectOf('settings').meta({
  description:
    'Values by key: all of them are written, or none. `null` or `""` removes one, and the layer below holds again; `***` keeps a password.',
  additionalProperties: {
    type: ['string', 'number', 'boolean', 'array', 'null'],
    items: { type: 'string' },
  },
})

const write = async (asked: {
  caller: { id: string }
  subject: Place
  body: Record<string, unknown>
}) => {
  const { tool, owner } = asked.subject
  await writeLayer(tool, owner, asked.body, { by: asked.caller.id })
  return show(asked)
}

const common = { tag: 'Settings', responses: { 200: SettingsView } } as const
const change = {
  ...common,
  method: 'PUT',
  body: Changes,
  errors: ['VALIDATION_ERROR', 'NOT_CONFIGURED'] satisfies ErrorCode[],
} as const

export const endpoints = {
  getInstanceSettings: endpoint(
    {
      ...common,
      method: 'GET',
      path: '/api/v1/tools/{tool}/settings',
      summary: 'Show a tool’s settings for the whole instance',
      access: ofInstance,
    },
    show,
  ),
  putInstanceSettings: endpoint(
    {
      ...change,
      path: '/api/v1/tools/{tool}/settings',
      summary: 'Change a tool’s settings for the whole instance',
      access: ofInstance,
    },
    write,
  ),
  getPrincipalSettings: endpoint(
    {
      ...common,
      method: 'GET',
      path: '/api/v1/principals/{id}/tools/{tool}/settings',
      summary: 'Show a tool’s settings for all agents of an owner',
      access: ofPrincipal(
        'read',
        'The principal’s own key, a member’s of the group, or an admin’s.',
      ),
    },
    show,
  ),
  putPrincipalSettings: endpoint(
    {
      ...change,
      path: '/api/v1/principals/{id}/tools/{tool}/settings',
      summary: 'Change a tool’s settings for all agents of an owner',
      access: ofPrincipal(
        'manage-settings',
        'The principal’s own key, an owner’s or admin’s of the group, or an admin’s.',
      ),
    },
    write,
  ),
  getAgentSettings: endpoint(
    {
      ...common,
      method: 'GET',
      path: '/api/v1/agents/{id}/tools/{tool}/settings',
      summary: 'Show a tool’s settings for one agent',
      access: ofAgent(readableAgent),
    },
    show,
  ),
  putAgentSettings: endpoint(
    {
      ...change,
      path: '/api/v1/agents/{id}/tools/{tool}/settings',
      summary: 'Change a tool’s settings for one agent',
      access: ofAgent(managedAgent),
    },
    write,
  ),
}

export const handler = handlerOf(appOf(endpoints))
