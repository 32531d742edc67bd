import * as z from 'zod'
import { listAgents } from '../../lib/agent/agent.ts'
import { listAgentTools } from '../../lib/agent/agent-tool.ts'
import { createAgent } from '../../lib/agent/create-agent.ts'
import { isoNow } from '../../lib/core/clock.ts'
import { notFound } from '../../lib/core/errors.ts'
import { demand, governingUser } from '../../lib/http/access.ts'
import { readableAgent } from '../../lib/http/agent-access.ts'
import { AgentBody, newAgentOf } from '../../lib/http/agent-body.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { authorOf } from '../../lib/http/author.ts'
import { demandPrincipal } from '../../lib/http/demand-principal.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import { listOwner, OwnerQuery } from '../../lib/http/list-owner.ts'
import {
  AgentView,
  AgentWithTools,
  presentAgent,
  presentAgentTools,
} from '../../lib/http/present-agent.ts'
import { creationOf, sameRequest } from '../../lib/http/request.ts'
import { AgentSelection, SelectedAgent, selected } from '../../lib/http/select-agent.ts'
import { etagOf } from '../../lib/http/version.ts'
import { tools as registry } from '../tools/index.ts'
import { lifeEndpoints } from './agents/life.ts'
import { toolEndpoints } from './agents/tools.ts'

const tag = 'Agents'

export const endpoints = {
  createAgent: endpoint(
    {
      method: 'POST',
      path: '/api/v1/agents',
      tag,
      summary: 'Make an agent',
      access: governingUser,
      isRepeatable: true,
      body: AgentBody,
      responses: { 200: AgentView, 201: AgentView },
      errors: ['NOT_FOUND', 'INVALID_STATE', 'IDEMPOTENCY_MISMATCH'],
    },
    async ({ context, subject: caller, body, idempotencyKey }) => {
      const { principal_id: principalId = caller.principalId, ...fields } = body
      await demandPrincipal(caller, 'manage-agents', principalId)
      const { id, requestHash } = creationOf('agent', {
        caller,
        route: 'agents',
        body,
        idempotencyKey,
      })
      const { agent, created } = await createAgent(
        { id, principalId, ...newAgentOf(fields, caller), createdAt: isoNow(), requestHash },
        authorOf(caller),
      )
      // It may have become another's since.
      if (!created) await demand(caller, 'read', agent, () => notFound('agent', id))
      if (!created) sameRequest(agent.requestHash, requestHash)
      context.header('etag', etagOf(agent.version))
      return reply(created ? 201 : 200, presentAgent(agent))
    },
  ),

  listAgents: endpoint(
    {
      method: 'GET',
      path: '/api/v1/agents',
      tag,
      summary: 'List agents',
      description:
        'One’s own, or those of another principal; whole, or as much of each as `select` names.',
      access: governingUser,
      query: OwnerQuery.extend({ select: AgentSelection.optional() }),
      isPaged: true,
      responses: { 200: z.array(AgentView.or(SelectedAgent)) },
      errors: ['NOT_FOUND'],
    },
    async ({ subject, query: { select, ...query }, page }) => {
      const { items, cursor } = await listAgents(await listOwner(subject, query), page)
      const agents = items.map(presentAgent)
      return replyPage(select ? agents.map(agent => selected(agent, select)) : agents, cursor)
    },
  ),

  getAgent: endpoint(
    {
      method: 'GET',
      path: '/api/v1/agents/{id}',
      tag,
      summary: 'Show an agent with its tools',
      access: readableAgent,
      responses: { 200: AgentWithTools },
    },
    async ({ context, subject: agent }) => {
      const tools = await presentAgentTools(agent, await listAgentTools(agent.id), registry)
      context.header('etag', etagOf(agent.version))
      return reply(200, { ...presentAgent(agent), tools })
    },
  ),

  ...lifeEndpoints,
  ...toolEndpoints,
}

export const handler = handlerOf(appOf(endpoints))
