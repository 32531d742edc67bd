import * as z from 'zod'
import { createAgent, DEFAULT_MAX_STEPS, listAgents, MAX_MAX_STEPS } from '../../lib/agent/agent.ts'
import { listAgentTools, overrideOperation, setEnabled } from '../../lib/agent/agent-tool.ts'
import { isoNow } from '../../lib/core/clock.ts'
import { AppError, notFound } from '../../lib/core/errors.ts'
import { governedAgent, governingUser } from '../../lib/http/access.ts'
import { authenticated, createApp, handlerOf } from '../../lib/http/app.ts'
import { presentAgent, presentAgentTools } from '../../lib/http/present-agent.ts'
import { creationOf, readBody, readPage, sameRequest } from '../../lib/http/request.ts'
import { ModelReference } from '../../lib/llm/provider.ts'
import { createKey } from '../../lib/principal/key.ts'
import type { Operation, Tool } from '../../lib/tool/define.ts'
import { getTool } from '../../lib/tool/registry.ts'
import { tools as registry } from '../tools/index.ts'

/** Lengths, in characters: a name fits a line, a system prompt an item. */
const MAX_NAME_CHARS = 100
const MAX_DESCRIPTION_CHARS = 1_000
const MAX_SYSTEM_PROMPT_CHARS = 50_000

const Name = z.string().trim().min(1).max(MAX_NAME_CHARS)

const AgentBody = z.strictObject({
  name: Name,
  description: z.string().max(MAX_DESCRIPTION_CHARS).optional(),
  system_prompt: z.string().max(MAX_SYSTEM_PROMPT_CHARS).default(''),
  model: z
    .strictObject({
      provider: ModelReference.shape.provider,
      name: ModelReference.shape.name,
      base_url: ModelReference.shape.baseUrl.optional(),
    })
    .refine(
      ({ provider, base_url }) => provider !== 'openai-compatible' || base_url !== undefined,
      {
        path: ['base_url'],
        message: 'is needed: an "openai-compatible" model has no address of its own',
      },
    ),
  max_steps: z.int().min(1).max(MAX_MAX_STEPS).default(DEFAULT_MAX_STEPS),
})

const OverrideBody = z.strictObject({
  enabled: z.boolean().nullish(),
  requires_approval: z.boolean().nullish(),
})

/** A time as every stored one is written, so that they compare as texts. */
const Time = z.iso.datetime().transform(text => new Date(text).toISOString())
const KeyBody = z.strictObject({ name: Name, expires_at: Time.optional() })

const app = createApp()

app.post('/api/v1/agents', authenticated, async context => {
  const caller = governingUser(context)
  const body = await readBody(context, AgentBody)
  const { name, base_url: baseUrl, provider } = body.model
  // The instance's own key for a provider goes wherever the base URL says.
  if (baseUrl !== undefined && caller.role !== 'admin')
    throw new AppError('FORBIDDEN', 'Only an admin of the instance may set a base URL.')
  const { id, requestHash } = creationOf(context, 'agent', { caller, route: 'agents', body })
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
  return context.json({ data: presentAgent(outcome.item) }, outcome.ok ? 201 : 200)
})

app.get('/api/v1/agents', authenticated, async context => {
  const { principalId } = governingUser(context)
  const { items, cursor } = await listAgents(principalId, readPage(context))
  return context.json({ data: items.map(presentAgent), next_cursor: cursor ?? null })
})

app.get('/api/v1/agents/:id', authenticated, async context => {
  const agent = await governedAgent(context)
  const tools = await presentAgentTools(agent, await listAgentTools(agent.id), registry)
  return context.json({ data: { ...presentAgent(agent), tools } })
})

app.on(
  ['POST', 'DELETE'],
  '/api/v1/agents/:id/tools/:tool/enable',
  authenticated,
  async context => {
    const agent = await governedAgent(context)
    const tool = await getTool(registry, context.req.param('tool'))
    const outcome = await setEnabled(agent.id, tool.name, context.req.method === 'POST', {
      by: context.get('caller').id,
    })
    const [data] = await presentAgentTools(agent, outcome.item ? [outcome.item] : [], registry)
    return context.json({ data })
  },
)

app.patch('/api/v1/agents/:id/tools/:tool/operations/:operation', authenticated, async context => {
  const agent = await governedAgent(context)
  const tool = await getTool(registry, context.req.param('tool'))
  const operation = namedOperation(tool, context.req.param('operation'))
  const { enabled, requires_approval: requiresApproval } = await readBody(context, OverrideBody)
  const { id: by, scopes } = context.get('caller')
  if (letsRunUnasked(operation, requiresApproval) && !scopes.includes('decide'))
    throw new AppError(
      'FORBIDDEN',
      'This key may not lift an approval: it lacks the scope "decide".',
    )
  const outcome = await overrideOperation(
    agent.id,
    tool.name,
    operation.name,
    { enabled, requiresApproval },
    { by },
  )
  const [data] = await presentAgentTools(agent, outcome.item ? [outcome.item] : [], registry)
  return context.json({ data })
})

app.post('/api/v1/agents/:id/keys', authenticated, async context => {
  const agent = await governedAgent(context)
  const body = await readBody(context, KeyBody)
  const { name, expires_at: expiresAt } = body
  const route = `agents/${agent.id}/keys`
  const { id } = creationOf(context, 'key', { caller: context.get('caller'), route, body })
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
  // The one time that the key's text is shown.
  return context.json({ data: { id: key.id, name, key: text, expires_at: expiresAt ?? null } }, 201)
})

export const handler = handlerOf(app)

const namedOperation = (tool: Tool, name: string): Operation => {
  const operation = Object.hasOwn(tool.operations, name) ? tool.operations[name] : undefined
  if (!operation) throw notFound('operation', name)
  return operation
}

/** Who lifts the approval of an operation decides about all its calls, before there is any. */
const letsRunUnasked = (operation: Operation, requiresApproval: boolean | null | undefined) =>
  requiresApproval === false || (requiresApproval === null && !operation.requiresApprovalByDefault)
