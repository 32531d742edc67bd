import * as z from 'zod'
import { type Agent, createAgent, listAgents } from '../../lib/agent/agent.ts'
import { listAgentTools, overrideOperation, setEnabled } from '../../lib/agent/agent-tool.ts'
import { isoNow } from '../../lib/core/clock.ts'
import { AppError, notFound } from '../../lib/core/errors.ts'
import { access, governingUser } from '../../lib/http/access.ts'
import { governedAgent } from '../../lib/http/agent-access.ts'
import { AgentBody, KeyBody, OverrideBody } from '../../lib/http/agent-body.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import {
  AgentToolView,
  AgentView,
  AgentWithTools,
  presentAgent,
  presentAgentTools,
  presentOneTool,
} from '../../lib/http/present-agent.ts'
import { creationOf, sameRequest } from '../../lib/http/request.ts'
import { AgentId, KeyId, OperationName, Time, ToolName } from '../../lib/http/wire.ts'
import type { Caller } from '../../lib/principal/caller.ts'
import { createKey } from '../../lib/principal/key.ts'
import type { Operation, Tool } from '../../lib/tool/define.ts'
import { getTool } from '../../lib/tool/registry.ts'
import { tools as registry } from '../tools/index.ts'

const tag = 'Agents'

/** A tool of the governed agent in the path, whether the agent has it or not. */
const governedTool = access({
  ...governedAgent,
  params: { id: AgentId, tool: ToolName },
  find: async ({ caller, params }) => {
    const agent = await governedAgent.find({ caller, params })
    return { agent, tool: await getTool(registry, params.tool) }
  },
})

const governedOperation = access({
  ...governedAgent,
  params: { id: AgentId, tool: ToolName, operation: OperationName },
  find: async ({ caller, params }) => {
    const { agent, tool } = await governedTool.find({ caller, params })
    return { agent, tool, operation: namedOperation(tool, params.operation) }
  },
})

const enabling = {
  path: '/api/v1/agents/{id}/tools/{tool}/enable',
  tag,
  access: governedTool,
  responses: { 200: AgentToolView },
} as const

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
      access: governedAgent,
      responses: { 200: AgentWithTools },
    },
    async ({ subject: agent }) => {
      const tools = await presentAgentTools(agent, await listAgentTools(agent.id), registry)
      return reply(200, { ...presentAgent(agent), tools })
    },
  ),

  enableTool: endpoint(
    { ...enabling, method: 'POST', summary: 'Let an agent use a tool' },
    ({ subject, caller }) => enable(true, subject, caller),
  ),
  disableTool: endpoint(
    {
      ...enabling,
      method: 'DELETE',
      summary: 'Let an agent use a tool no more',
      description: 'Its overrides and settings stay, unused.',
    },
    ({ subject, caller }) => enable(false, subject, caller),
  ),

  overrideOperation: endpoint(
    {
      method: 'PATCH',
      path: '/api/v1/agents/{id}/tools/{tool}/operations/{operation}',
      tag,
      summary: 'Decide about one operation of an agent',
      description:
        'Whether the agent may run it, and whether a person is asked first. To lift an approval takes a key with the scope `decide`.',
      access: governedOperation,
      body: OverrideBody,
      responses: { 200: AgentToolView },
      errors: ['FORBIDDEN'],
    },
    async ({ subject: { agent, tool, operation }, caller: { id: by, scopes }, body }) => {
      const { enabled, requires_approval: requiresApproval } = body
      if (letsRunUnasked(operation, requiresApproval) && !scopes.includes('decide'))
        throw new AppError(
          'FORBIDDEN',
          'This key may not lift an approval: it lacks the scope "decide".',
        )
      const { item } = await overrideOperation(
        agent.id,
        tool.name,
        operation.name,
        { enabled, requiresApproval },
        { by },
      )
      if (!item) throw notFound('agent', agent.id)
      return reply(200, await presentOneTool(agent, item, registry))
    },
  ),

  createAgentKey: endpoint(
    {
      method: 'POST',
      path: '/api/v1/agents/{id}/keys',
      tag: 'Keys',
      summary: 'Make a key for an agent',
      description: 'The answer is the one time that its text is shown.',
      access: governedAgent,
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

const enable = async (
  enabled: boolean,
  { agent, tool }: { agent: Agent; tool: Tool },
  { id: by }: Caller,
) => {
  const { item } = await setEnabled(agent.id, tool.name, enabled, { by })
  if (!item) throw notFound('agent', agent.id)
  return reply(200, await presentOneTool(agent, item, registry))
}

const namedOperation = (tool: Tool, name: string): Operation => {
  const operation = Object.hasOwn(tool.operations, name) ? tool.operations[name] : undefined
  if (!operation) throw notFound('operation', name)
  return operation
}

/** Who lifts the approval of an operation decides about all its calls, before there is any. */
const letsRunUnasked = (operation: Operation, requiresApproval: boolean | null | undefined) =>
  requiresApproval === false || (requiresApproval === null && !operation.requiresApprovalByDefault)
