import * as z from 'zod'
import type { Agent } from '../../../lib/agent/agent.ts'
import {
  changeAgentTool,
  changesDeciders,
  decisionPolicy,
  getAgentTool,
  liftsApproval,
  listAgentTools,
  type OperationChanges,
  type OperationOverride,
} from '../../../lib/agent/agent-tool.ts'
import { configureTools } from '../../../lib/agent/configure.ts'
import { AppError, notFound } from '../../../lib/core/errors.ts'
import { access } from '../../../lib/http/access.ts'
import { managedAgent } from '../../../lib/http/agent-access.ts'
import { OverrideBody, overrideOf, ToolsBody } from '../../../lib/http/agent-body.ts'
import { authorOf } from '../../../lib/http/author.ts'
import { demandGoverning } from '../../../lib/http/deciding.ts'
import { endpoint, reply } from '../../../lib/http/endpoint.ts'
import {
  AgentToolView,
  presentAgentTools,
  presentOneTool,
} from '../../../lib/http/present-agent.ts'
import { AgentId, OperationName, ToolName } from '../../../lib/http/wire.ts'
import type { Caller } from '../../../lib/principal/caller.ts'
import {
  type DecisionPolicy,
  deciderWords,
  someoneElseDecides,
} from '../../../lib/principal/decider.ts'
import type { Operation, Tool } from '../../../lib/tool/define.ts'
import { allTools, findTool, getTool } from '../../../lib/tool/registry.ts'
import { tools as registry } from '../../tools/index.ts'

const tag = 'Agents'

/** A tool of the agent in the path, whether the agent has it or not. */
const governedTool = access({
  ...managedAgent,
  params: { id: AgentId, tool: ToolName },
  find: async ({ caller, params }) => {
    const agent = await managedAgent.find({ caller, params })
    return { agent, tool: await getTool(registry, params.tool) }
  },
})

const governedOperation = access({
  ...managedAgent,
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
} as const

/** What an agent may use, and how. */
export const toolEndpoints = {
  enableTools: endpoint(
    {
      method: 'PATCH',
      path: '/api/v1/agents/{id}/tools',
      tag,
      summary: 'Let an agent use several tools, or use them no more',
      description:
        'Those that are named, and all of a category; all at once, or none. Their overrides and settings stay as they are.',
      access: managedAgent,
      body: ToolsBody,
      responses: { 200: z.array(AgentToolView) },
    },
    async ({ subject: agent, caller, body: { enabled, tools: names = [], category } }) => {
      const ofCategory = category === undefined ? [] : await allTools(registry)
      const chosen = new Map(
        [
          ...(await Promise.all([...new Set(names)].map(name => getTool(registry, name)))),
          ...ofCategory.filter(tool => tool.category === category),
        ].map(tool => [tool.name, tool]),
      )
      const configurations = [...chosen.values()].map(tool => ({
        tool,
        changes: { enabled },
        settings: {},
      }))
      await configureTools(agent, configurations, authorOf(caller))
      return reply(200, await presentAgentTools(agent, await listAgentTools(agent.id), registry))
    },
  ),

  enableTool: endpoint(
    {
      ...enabling,
      method: 'POST',
      summary: 'Let an agent use a tool',
      responses: {
        200: AgentToolView.extend({
          recommended_skills: z.array(z.string()).describe('What the tool says is of use with it.'),
        }).meta({ id: 'EnabledTool' }),
      },
    },
    async ({ subject, caller }) =>
      reply(200, {
        ...(await enable(true, subject, caller)),
        recommended_skills: [...subject.tool.recommendsSkills],
      }),
  ),
  disableTool: endpoint(
    {
      ...enabling,
      method: 'DELETE',
      summary: 'Let an agent use a tool no more',
      description: 'Its overrides and settings stay, unused.',
      responses: {
        200: AgentToolView.extend({
          skills_to_remove: z
            .array(z.string())
            .describe('Skills that it recommended, and no other enabled tool does.'),
        }).meta({ id: 'DisabledTool' }),
      },
    },
    async ({ subject, caller }) =>
      reply(200, {
        ...(await enable(false, subject, caller)),
        skills_to_remove: await onlyRecommendedBy(subject.agent, subject.tool),
      }),
  ),

  overrideOperation: endpoint(
    {
      method: 'PATCH',
      path: '/api/v1/agents/{id}/tools/{tool}/operations/{operation}',
      tag,
      summary: 'Decide about one operation of an agent',
      description:
        'Whether the agent may run it, whether a person is asked first, and who decides then. To lift an approval or to say who decides takes a key with the scope `decide`, of someone who decides about its calls so far.',
      access: governedOperation,
      body: OverrideBody,
      responses: { 200: AgentToolView },
      errors: ['FORBIDDEN', 'INVALID_STATE'],
    },
    async ({ subject: { agent, tool, operation }, caller, body }) => {
      const override = overrideOf(body)
      if (liftsApproval(operation, override) || changesDeciders(override)) {
        const current = (await getAgentTool(agent.id, tool.name))?.operations[operation.name]
        await demandGoverning(caller, agent, decisionPolicy(operation, current).decidedBy)
        if (changesDeciders(override))
          await demandAnyone(caller, agent, decisionPolicy(operation, changed(current, override)))
      }
      const changes = { operations: { [operation.name]: override } }
      const agentTool = await changeAgentTool(agent, tool.name, changes, authorOf(caller))
      return reply(200, await presentOneTool(agent, agentTool, registry))
    },
  ),
}

/** An override as changes make it; null is inherited again. */
const changed = (current: OperationOverride = {}, changes: OperationChanges): OperationOverride =>
  Object.fromEntries(
    Object.entries({
      ...current,
      ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)),
    }).filter(([, value]) => value !== null),
  )

/** A rule that leaves nobody but who makes it would have each of their tasks wait for its end. */
const demandAnyone = async (
  caller: Caller,
  { principalId }: Agent,
  { decidedBy, neverByStarter }: DecisionPolicy,
): Promise<void> => {
  if (caller.kind !== 'user' || !neverByStarter) return
  if (await someoneElseDecides([caller.id], principalId, decidedBy)) return
  throw new AppError(
    'INVALID_STATE',
    `Nobody but you could decide: ${deciderWords(decidedBy, principalId)} would have to, and there is no other. Make someone one first.`,
  )
}

const enable = async (
  enabled: boolean,
  { agent, tool }: { agent: Agent; tool: Tool },
  caller: Caller,
) => {
  const agentTool = await changeAgentTool(agent, tool.name, { enabled }, authorOf(caller))
  return presentOneTool(agent, agentTool, registry)
}

/** The skills that a tool recommends and no other enabled tool of the agent does. */
const onlyRecommendedBy = async (agent: Agent, tool: Tool): Promise<string[]> => {
  const others = (await listAgentTools(agent.id)).filter(
    ({ tool: name, enabled }) => enabled && name !== tool.name,
  )
  const declared = await Promise.all(others.map(({ tool: name }) => findTool(registry, name)))
  const recommended = new Set(declared.flatMap(other => other?.recommendsSkills ?? []))
  return tool.recommendsSkills.filter(skill => !recommended.has(skill))
}

const namedOperation = (tool: Tool, name: string): Operation => {
  const operation = Object.hasOwn(tool.operations, name) ? tool.operations[name] : undefined
  if (!operation) throw notFound('operation', name)
  return operation
}
