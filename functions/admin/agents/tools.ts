import type { Agent } from '../../../lib/agent/agent.ts'
import { overrideOperation, setEnabled } from '../../../lib/agent/agent-tool.ts'
import { AppError, notFound } from '../../../lib/core/errors.ts'
import { access } from '../../../lib/http/access.ts'
import { managedAgent } from '../../../lib/http/agent-access.ts'
import { OverrideBody } from '../../../lib/http/agent-body.ts'
import { endpoint, reply } from '../../../lib/http/endpoint.ts'
import { AgentToolView, presentOneTool } from '../../../lib/http/present-agent.ts'
import { AgentId, OperationName, ToolName } from '../../../lib/http/wire.ts'
import type { Caller } from '../../../lib/principal/caller.ts'
import type { Operation, Tool } from '../../../lib/tool/define.ts'
import { getTool } from '../../../lib/tool/registry.ts'
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
  responses: { 200: AgentToolView },
} as const

/** What an agent may use, and how. */
export const toolEndpoints = {
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
}

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
