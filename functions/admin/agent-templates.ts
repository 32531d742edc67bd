import * as z from 'zod'
import { configurationOf } from '../../lib/agent/agent.ts'
import { checkModel } from '../../lib/agent/counts.ts'
import { createAgent } from '../../lib/agent/create-agent.ts'
import { type PlannedTool, planTemplate } from '../../lib/agent/template.ts'
import { isoNow } from '../../lib/core/clock.ts'
import { AppError, hasCode } from '../../lib/core/errors.ts'
import type { Problem } from '../../lib/core/problems.ts'
import { governingUser } from '../../lib/http/access.ts'
import { readableAgent } from '../../lib/http/agent-access.ts'
import { newAgentOf } from '../../lib/http/agent-body.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { authorOf } from '../../lib/http/author.ts'
import { demandGoverning } from '../../lib/http/deciding.ts'
import { demandPrincipal } from '../../lib/http/demand-principal.ts'
import { endpoint, reply } from '../../lib/http/endpoint.ts'
import { creationOf, sameRequest } from '../../lib/http/request.ts'
import {
  presentTemplate,
  TemplateBody,
  TemplateView,
  templateTools,
} from '../../lib/http/template.ts'
import { AgentId, PrincipalId } from '../../lib/http/wire.ts'
import { tools as registry } from '../tools/index.ts'

const tag = 'Agents'

const Flag = z.enum(['0', '1', 'false', 'true'])
const isOn = (flag: z.infer<typeof Flag> | undefined) => flag === '1' || flag === 'true'

const ImportView = z
  .object({
    dry_run: z.boolean(),
    agent_id: AgentId.nullable().describe('Null where nothing was made.'),
    principal_id: PrincipalId,
    name: z.string(),
    tools: z.array(
      z.object({
        tool_class: z.string(),
        enabled: z.boolean(),
        ready_to_enable: z.boolean(),
        missing_required: z.array(z.string()),
        settings: z.array(z.string()).describe('The keys that it sets on the agent.'),
        operations: z.array(z.string()).describe('The operations that it decides about.'),
      }),
    ),
  })
  .meta({ id: 'ImportedTemplate' })

export const endpoints = {
  importAgentTemplate: endpoint(
    {
      method: 'POST',
      path: '/api/v1/agent-templates/import',
      tag,
      summary: 'Make an agent from a template',
      description:
        'The agent with its tools and its own settings, or nothing: all that is wrong is named at once. With `dry_run` it says what it would do, and does nothing. To lift an approval, or to say who decides, takes a key with the scope `decide`.',
      access: governingUser,
      isRepeatable: true,
      query: z.object({
        dry_run: Flag.optional(),
        principal_id: PrincipalId.optional().describe('Who gets it: the caller, if not said.'),
      }),
      body: TemplateBody,
      responses: { 200: ImportView, 201: ImportView },
      errors: ['NOT_FOUND', 'FORBIDDEN', 'INVALID_STATE', 'IDEMPOTENCY_MISMATCH'],
    },
    async ({ subject: caller, query, body, idempotencyKey }) => {
      const { principal_id: principalId = caller.principalId } = query
      await demandPrincipal(caller, 'manage-agents', principalId)
      const { id, requestHash } = creationOf('agent', {
        caller,
        route: 'agent-templates/import',
        body: [principalId, body],
        idempotencyKey,
      })
      const agent = {
        id,
        principalId,
        ...newAgentOf(body.agent, caller),
        template: { id: body.id, version: body.version },
        createdAt: isoNow(),
        requestHash,
      }
      const template = { tools: templateTools(body), requiredPlugins: body.required_plugins }
      const author = authorOf(caller)
      const place = { agent, registry, author }
      const plan = await planTemplate(template, place, await modelProblems(agent))
      if (plan.unasked.length > 0 && !caller.scopes.includes('decide'))
        throw new AppError(
          'FORBIDDEN',
          `This key may not lift the approvals of ${plan.unasked.join(', ')}, nor say who decides: it lacks the scope "decide".`,
        )
      for (const decider of plan.deciders) await demandGoverning(caller, agent, decider)
      const view = { principal_id: principalId, name: agent.name, tools: plan.tools.map(present) }
      if (isOn(query.dry_run)) return reply(200, { dry_run: true, agent_id: null, ...view })
      const { agent: made, created } = await createAgent(agent, author, {
        more: plan.writes,
        told: toldOf(body, plan.tools),
      })
      if (!created) sameRequest(made.requestHash, requestHash)
      return reply(created ? 201 : 200, { dry_run: false, agent_id: made.id, ...view })
    },
  ),

  exportAgent: endpoint(
    {
      method: 'GET',
      path: '/api/v1/agents/{id}/export',
      tag,
      summary: 'Show an agent as a template',
      description:
        'With `include_settings` what is set on the agent itself, but no password. What is declared no more is left out.',
      access: readableAgent,
      query: z.object({ include_settings: Flag.optional() }),
      responses: { 200: TemplateView },
    },
    async ({ subject: agent, query }) => {
      const withSettings = isOn(query.include_settings)
      return reply(200, await presentTemplate(agent, registry, { withSettings }))
    },
  ),
}

/** What is wrong with the LLM configuration that the agent names, beside all else that is. */
const modelProblems = async (agent: Parameters<typeof checkModel>[0]): Promise<Problem[]> => {
  try {
    await checkModel(agent)
    return []
  } catch (error) {
    if (!hasCode(error, 'NOT_FOUND')) throw error
    const field = 'agent.llm_configuration_id'
    return [{ field, message: `There is no ${configurationOf(agent)} for this agent.` }]
  }
}

const present = ({ tool, missing, ...planned }: PlannedTool) => ({
  tool_class: tool.name,
  enabled: planned.enabled,
  ready_to_enable: missing.length === 0,
  missing_required: missing,
  settings: planned.settings,
  operations: planned.operations,
})

/** What the log tells of a template beside the agent's own fields: names, and no values. */
const toldOf = ({ id, version }: TemplateBody, tools: PlannedTool[]) => ({
  template: `${id} ${version}`,
  tools: Object.fromEntries(
    tools.map(({ tool, enabled, operations, settings }) => [
      tool.name,
      [enabled ? 'enabled' : 'disabled', ...operations, ...settings].join(', '),
    ]),
  ),
})

export const handler = handlerOf(appOf(endpoints))
