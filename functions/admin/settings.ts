import type { Context } from 'hono'
import * as z from 'zod'
import { getAgents } from '../../lib/agent/agent.ts'
import { scopeOf } from '../../lib/call/gate.ts'
import { AppError, type ErrorCode, notFound } from '../../lib/core/errors.ts'
import { access, demand } from '../../lib/http/access.ts'
import { managedAgent, readableAgent } from '../../lib/http/agent-access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply } from '../../lib/http/endpoint.ts'
import { presentSettings, SettingsView } from '../../lib/http/present-settings.ts'
import { objectOf } from '../../lib/http/request.ts'
import { etagOf } from '../../lib/http/version.ts'
import { AgentId, PrincipalId, SettingKey, ToolName } from '../../lib/http/wire.ts'
import type { Caller } from '../../lib/principal/caller.ts'
import type { Permission } from '../../lib/principal/permission.ts'
import { principalExists } from '../../lib/principal/principal.ts'
import type { Scope } from '../../lib/settings/cascade.ts'
import { clearLayer, writeLayer } from '../../lib/settings/write.ts'
import type { Tool } from '../../lib/tool/define.ts'
import { getTool } from '../../lib/tool/registry.ts'
import { tools } from '../tools/index.ts'

/** One layer of a tool's settings: the own one of a scope. */
type Place = { tool: Tool; scope: Scope }

const ofInstance = access({
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
      return { tool: await getTool(tools, tool), scope: { principalId: id } }
    },
  })

const ofAgent = (rule: typeof readableAgent) =>
  access({
    ...rule,
    params: { id: AgentId, tool: ToolName },
    find: async ({ caller, params }): Promise<Place> => {
      const agent = await rule.find({ caller, params })
      return { tool: await getTool(tools, params.tool), scope: scopeOf(agent) }
    },
  })

const RawQuery = z.object({
  raw: z
    .enum(['true', 'false'])
    .optional()
    .describe('`true`: what this layer itself holds, and nothing of others.'),
})

type Asked = { context: Context; subject: Place }

const show = async ({
  context,
  subject: { tool, scope },
  query,
}: Asked & { query?: z.infer<typeof RawQuery> }) => {
  const view = await presentSettings(tool, scope, { own: query?.raw === 'true' })
  context.header('etag', etagOf(view.version))
  return reply(200, view)
}

/** What a layer holds from now on. */
const Changes = objectOf('settings').meta({
  description:
    'Values by key: all of them are written, or none. `null` or `""` removes one, and the layer below holds again; `***` keeps a password.',
  additionalProperties: {
    type: ['string', 'number', 'boolean', 'array', 'null'],
    items: { type: 'string' },
  },
})

type Change = Asked & { caller: Caller; version: number | undefined }

const write = async (asked: Change & { body: Record<string, unknown> }) => {
  await writeLayer(asked.subject.tool, asked.subject.scope, asked.body, authorOf(asked))
  return show(asked)
}

const removeOne = async (asked: Change & { params: { key: string } }) => {
  const { tool, scope } = asked.subject
  await writeLayer(tool, scope, { [asked.params.key]: null }, authorOf(asked))
  return show(asked)
}

const removeAll = async (asked: Change) => {
  await clearLayer(asked.subject.tool, asked.subject.scope, authorOf(asked))
  return show(asked)
}

const authorOf = ({ caller: { id: by, keyId }, version }: Change) => ({
  by,
  keyId,
  version,
  readAgents: getAgents,
})

const tag = 'Settings'
const errors = ['VALIDATION_ERROR', 'NOT_CONFIGURED'] satisfies ErrorCode[]
const responses = { 200: SettingsView } as const
const reading = { tag, responses, method: 'GET', query: RawQuery } as const
const change = { tag, responses, errors, ifMatch: 'optional' } as const
const putting = { ...change, method: 'PUT', body: Changes } as const
const removingOne = { ...change, method: 'DELETE', params: { key: SettingKey } } as const
const removingAll = { ...change, method: 'DELETE' } as const

const readablePrincipal = ofPrincipal(
  'read',
  'The principal’s own key, a member’s of the group, or an admin’s.',
)
const managedPrincipal = ofPrincipal(
  'manage-settings',
  'The principal’s own key, an owner’s or admin’s of the group, or an admin’s.',
)

const INSTANCE = '/api/v1/tools/{tool}/settings'
const PRINCIPAL = '/api/v1/principals/{id}/tools/{tool}/settings'
const AGENT = '/api/v1/agents/{id}/tools/{tool}/settings'

export const endpoints = {
  getInstanceSettings: endpoint(
    {
      ...reading,
      path: INSTANCE,
      summary: 'Show a tool’s settings for the whole instance',
      access: ofInstance,
    },
    show,
  ),
  putInstanceSettings: endpoint(
    {
      ...putting,
      path: INSTANCE,
      summary: 'Change a tool’s settings for the whole instance',
      access: ofInstance,
    },
    write,
  ),
  deleteInstanceSetting: endpoint(
    {
      ...removingOne,
      path: `${INSTANCE}/{key}`,
      summary: 'Remove one of a tool’s settings for the whole instance',
      access: ofInstance,
    },
    removeOne,
  ),
  deleteInstanceSettings: endpoint(
    {
      ...removingAll,
      path: INSTANCE,
      summary: 'Remove a tool’s settings for the whole instance',
      access: ofInstance,
    },
    removeAll,
  ),
  getPrincipalSettings: endpoint(
    {
      ...reading,
      path: PRINCIPAL,
      summary: 'Show a tool’s settings for all agents of an owner',
      access: readablePrincipal,
    },
    show,
  ),
  putPrincipalSettings: endpoint(
    {
      ...putting,
      path: PRINCIPAL,
      summary: 'Change a tool’s settings for all agents of an owner',
      access: managedPrincipal,
    },
    write,
  ),
  deletePrincipalSetting: endpoint(
    {
      ...removingOne,
      path: `${PRINCIPAL}/{key}`,
      summary: 'Remove one of a tool’s settings for all agents of an owner',
      access: managedPrincipal,
    },
    removeOne,
  ),
  deletePrincipalSettings: endpoint(
    {
      ...removingAll,
      path: PRINCIPAL,
      summary: 'Remove a tool’s settings for all agents of an owner',
      access: managedPrincipal,
    },
    removeAll,
  ),
  getAgentSettings: endpoint(
    {
      ...reading,
      path: AGENT,
      summary: 'Show a tool’s settings for one agent',
      access: ofAgent(readableAgent),
    },
    show,
  ),
  putAgentSettings: endpoint(
    {
      ...putting,
      path: AGENT,
      summary: 'Change a tool’s settings for one agent',
      access: ofAgent(managedAgent),
    },
    write,
  ),
  deleteAgentSetting: endpoint(
    {
      ...removingOne,
      path: `${AGENT}/{key}`,
      summary: 'Remove one of a tool’s settings for one agent',
      access: ofAgent(managedAgent),
    },
    removeOne,
  ),
  deleteAgentSettings: endpoint(
    {
      ...removingAll,
      path: AGENT,
      summary: 'Remove a tool’s settings for one agent',
      access: ofAgent(managedAgent),
    },
    removeAll,
  ),
}

export const handler = handlerOf(appOf(endpoints))
