import type { Context } from 'hono'
import * as z from 'zod'
import { getAgents } from '../../lib/agent/agent.ts'
import type { ErrorCode } from '../../lib/core/errors.ts'
import { managedAgent, readableAgent } from '../../lib/http/agent-access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply } from '../../lib/http/endpoint.ts'
import { presentSettings, SettingsView } from '../../lib/http/present-settings.ts'
import { objectOf } from '../../lib/http/request.ts'
import { etagOf } from '../../lib/http/version.ts'
import { SettingKey } from '../../lib/http/wire.ts'
import type { Caller } from '../../lib/principal/caller.ts'
import { clearLayer, writeLayer } from '../../lib/settings/write.ts'
import {
  managedPrincipal,
  ofAgent,
  ofInstance,
  type Place,
  readablePrincipal,
} from './settings/places.ts'

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

const authorOf = ({ caller: { id: by, keyId }, subject: { owner }, version }: Change) => ({
  by,
  keyId,
  version,
  readAgents: getAgents,
  ...(owner ? { owner } : {}),
})

const tag = 'Settings'
const errors = ['VALIDATION_ERROR', 'NOT_CONFIGURED'] satisfies ErrorCode[]
const responses = { 200: SettingsView } as const
const reading = { tag, responses, method: 'GET', query: RawQuery } as const
const change = { tag, responses, errors, ifMatch: 'optional' } as const
const putting = { ...change, method: 'PUT', body: Changes } as const
const removingOne = { ...change, method: 'DELETE', params: { key: SettingKey } } as const
const removingAll = { ...change, method: 'DELETE' } as const

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
