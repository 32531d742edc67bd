import * as z from 'zod'
import { createAgent, listAgents } from '../../lib/agent/agent.ts'
import { listAgentTools } from '../../lib/agent/agent-tool.ts'
import { isoNow } from '../../lib/core/clock.ts'
import { AppError } from '../../lib/core/errors.ts'
import { governingUser } from '../../lib/http/access.ts'
import { managedAgent, readableAgent } from '../../lib/http/agent-access.ts'
import { AgentBody, KeyBody } from '../../lib/http/agent-body.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import {
  AgentView,
  AgentWithTools,
  presentAgent,
  presentAgentTools,
} from '../../lib/http/present-agent.ts'
import { creationOf, sameRequest } from '../../lib/http/request.ts'
import { KeyId, Time } from '../../lib/http/wire.ts'
import { createKey } from '../../lib/principal/key.ts'
import { tools as registry } from '../tools/index.ts'
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
      errors: ['IDEMPOTENCY_MISMATCH'],
    },
    async ({ subject: caller, body, idempotencyKey }) => {
      const { name, base_url: baseUrl, provider } = body.model
      // The instance's own key for a provider goes wherever the base URL says.
      if (baseUrl !== undefined && caller.role !== 'admin')
        throw new AppError('FORBIDDEN', 'Only an admin of the instance may set a base URL.')
      const { id, requestHash } = creationOf('agent', {
        caller,
        route: 'agents',
        body,
        idempotencyKey,
      })
      const outcome = await createAgent({
        id,
        principalId: caller.principalId,
        name: body.name,
        ...(body.description === undefined ? {} : { description: body.description }),
        systemPrompt: body.system_prompt,
        model: { provider, name, ...(baseUrl === undefined ? {} : { baseUrl }) },
        maxSteps: body.max_steps,
        createdAt: isoNow(),
        requestHash,
      })
      if (!outcome.ok) sameRequest(outcome.item?.requestHash, requestHash)
      if (!outcome.item) throw new AppError('INTERNAL', 'The agent was not stored.')
      return reply(outcome.ok ? 201 : 200, presentAgent(outcome.item))
    },
  ),

  listAgents: endpoint(
    {
      method: 'GET',
      path: '/api/v1/agents',
      tag,
      summary: 'List agents',
      access: governingUser,
      isPaged: true,
      responses: { 200: z.array(AgentView) },
    },
    async ({ subject, page }) => {
      const { items, cursor } = await listAgents(subject.principalId, page)
      return replyPage(items.map(presentAgent), cursor)
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
    async ({ subject: agent }) => {
      const tools = await presentAgentTools(agent, await listAgentTools(agent.id), registry)
      return reply(200, { ...presentAgent(agent), tools })
    },
  ),

  ...toolEndpoints,

  createAgentKey: endpoint(
    {
      method: 'POST',
      path: '/api/v1/agents/{id}/keys',
      tag: 'Keys',
      summary: 'Make a key for an agent',
      description: 'The answer is the one time that its text is shown.',
      access: managedAgent,
      isRepeatable: true,
      body: KeyBody,
      responses: {
        201: z.object({
          id: KeyId,
          name: z.string(),
          key: z.string(),
          expires_at: Time.nullable(),
        }),
      },
      errors: ['INVALID_STATE'],
    },
    async ({ subject: agent, caller, body, idempotencyKey }) => {
      const { name, expires_at: expiresAt } = body
      const route = `agents/${agent.id}/keys`
      const { id } = creationOf('key', { caller, route, body, idempotencyKey })
      const owner = { subjectId: agent.id, principalId: agent.principalId, scopes: [] }
      const { key, text, created } = await createKey(
        { name, ...owner, ...(expiresAt === undefined ? {} : { expiresAt }) },
        { id },
      )
      if (!created)
        throw new AppError(
          'INVALID_STATE',
          `The key ${key.id} was made under this Idempotency-Key, and its text is shown only once. If it was lost, revoke that key and make another one.`,
          { details: { id: key.id } },
        )
      return reply(201, { id: key.id, name, key: text, expires_at: expiresAt ?? null })
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))
