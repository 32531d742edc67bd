import { type Agent, getAgent } from '../../../lib/agent/agent.ts'
import {
  type AgentTool,
  decisionPolicy,
  getAgentTool,
  liftsApproval,
  listAgentTools,
} from '../../../lib/agent/agent-tool.ts'
import { configureTools, type ToolConfiguration } from '../../../lib/agent/configure.ts'
import { createAgent } from '../../../lib/agent/create-agent.ts'
import { updateAgent } from '../../../lib/agent/update-agent.ts'
import { isoNow } from '../../../lib/core/clock.ts'
import { AppError, notFound } from '../../../lib/core/errors.ts'
import { derivedId, type Id } from '../../../lib/core/ids.ts'
import { invalid, type Problem } from '../../../lib/core/problems.ts'
import { isReadable } from '../../../lib/core/readable.ts'
import type { CallContext, Tool } from '../../../lib/tool/define.ts'
import { findTool } from '../../../lib/tool/registry.ts'
import { DECIDERS, type Decider } from '../../../lib/tool/words.ts'
import { tools as registry } from '../index.ts'
import { manifestOf } from './read.ts'

type Slim = {
  description?: string | undefined
  max_steps?: number | undefined
  allow_followup?: boolean | undefined
  retry_after_minutes?: number | undefined
  max_retries?: number | undefined
}

/** Makes an agent with the caller's own model and limits of spending; the same call makes the same agent. */
export const createAgentOf = async ({
  parameters,
  agent: { id: callerId },
  call,
  clock,
}: CallContext<Slim & { name: string; system_prompt: string }>) => {
  checkName(parameters.name)
  const caller = await getAgent(callerId)
  const { agent } = await createAgent(
    {
      id: derivedId('agent', call.id),
      principalId: caller.principalId,
      name: parameters.name,
      systemPrompt: parameters.system_prompt,
      model: caller.model,
      maxSteps: parameters.max_steps ?? caller.maxSteps,
      ...spendingOf(caller),
      madeBy: caller.id,
      createdAt: isoNow(clock),
      ...given(parameters),
    },
    { by: caller.id, clock },
  )
  return { agent_id: agent.id, name: agent.name }
}

/** What it may spend is its operator's to say, and no more than whoever makes it. */
const spendingOf = ({ maxTokens, maxCostUsd, maxTreeTokens, maxTreeCostUsd }: Agent) => ({
  ...(maxTokens === undefined ? {} : { maxTokens }),
  ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
  ...(maxTreeTokens === undefined ? {} : { maxTreeTokens }),
  ...(maxTreeCostUsd === undefined ? {} : { maxTreeCostUsd }),
})

/** Changes an agent that the caller made. */
export const updateAgentOf = async ({
  parameters: { agent_id, name, system_prompt, ...slim },
  agent: caller,
  principal,
  clock,
}: CallContext<
  Slim & { agent_id: Id<'agent'>; name?: string | undefined; system_prompt?: string | undefined }
>) => {
  if (name !== undefined) checkName(name)
  const agent = await madeBy({ agent: caller, principal }, agent_id)
  const changed = await updateAgent(
    agent,
    {
      ...(name === undefined ? {} : { name }),
      ...(system_prompt === undefined ? {} : { systemPrompt: system_prompt }),
      ...(slim.max_steps === undefined ? {} : { maxSteps: slim.max_steps }),
      ...given(slim),
    },
    { by: caller.id, clock },
  )
  if (!changed)
    throw new AppError(
      'VERSION_MISMATCH',
      'Someone else changed this agent just now. Read it again.',
    )
  return { agent_id: agent.id, tools: await manifestOf(agent.id) }
}

const checkName = (name: string): void => {
  if (isReadable(name)) return
  throw invalid('Nothing was changed.', [
    { field: 'name', message: 'must be one line with something to see in it.' },
  ])
}

type Entry = {
  tool_class: string
  enabled?: boolean | '' | undefined
  settings?: Record<string, unknown> | undefined
  operations?: { name: string; enabled: boolean; auto_approve?: boolean | undefined }[] | undefined
}

/** Sets up tools of an agent that the caller made: all refusals come before any write. */
export const configureToolsOf = async ({
  parameters: { agent_id, tools },
  agent: caller,
  principal,
  call,
  clock,
}: CallContext<{ agent_id: Id<'agent'>; tools: Entry[] }>) => {
  const agent = await madeBy({ agent: caller, principal }, agent_id)
  const problems: Problem[] = []
  const configurations: ToolConfiguration[] = []
  const approver = await approverOf(caller.id, call)
  const held = new Map((await listAgentTools(agent.id)).map(each => [each.tool, each]))
  for (const entry of tools) {
    const tool = await findTool(registry, entry.tool_class)
    if (!tool) problems.push(await unknownTool(entry.tool_class))
    else {
      problems.push(
        ...problemsWith(tool, entry, {
          isApproved: call.approvedBy !== undefined,
          held: held.get(tool.name),
          approver,
        }),
      )
      configurations.push({ tool, changes: changesOf(entry), settings: entry.settings ?? {} })
    }
  }
  const named = tools.map(({ tool_class }) => tool_class)
  for (const twice of new Set(named.filter((name, at) => named.indexOf(name) !== at)))
    problems.push({ field: twice, message: 'stands twice; say all of one tool in one entry.' })
  if (problems.length > 0) throw invalid('Nothing was changed.', problems)
  await configureTools(agent, configurations, { by: caller.id, clock })
  return { agent_id: agent.id, tools: await manifestOf(agent.id) }
}

/** To set up oneself would be to widen one's own reach: so only what one made oneself. */
const madeBy = async (
  { agent: { id: callerId }, principal }: Pick<CallContext, 'agent' | 'principal'>,
  id: Id<'agent'>,
): Promise<Agent> => {
  if (id === callerId)
    throw new AppError('FORBIDDEN', 'An agent can’t change itself; its operator does.')
  const agent = await getAgent(id)
  if (agent.principalId !== principal.id) throw notFound('agent', id)
  if (agent.madeBy === callerId) return agent
  throw new AppError(
    'FORBIDDEN',
    `You can change only agents that you made; ${id} is none of them.`,
  )
}

/** The least role of who approves calls such as this one. */
const approverOf = async (
  callerId: Id<'agent'>,
  call: Pick<CallContext['call'], 'tool' | 'operation'>,
): Promise<Decider> => {
  const tool = await findTool(registry, call.tool)
  const own = await getAgentTool(callerId, call.tool)
  return decisionPolicy(tool?.operations[call.operation], own?.operations[call.operation]).decidedBy
}

const problemsWith = (
  tool: Tool,
  entry: Entry,
  {
    isApproved,
    held,
    approver,
  }: { isApproved: boolean; held: AgentTool | undefined; approver: Decider },
): Problem[] => {
  const passwords = Object.keys(entry.settings ?? {}).filter(
    key => Object.hasOwn(tool.settings, key) && tool.settings[key]?.type === 'password',
  )
  return [
    ...passwords.map(key => ({
      field: `${tool.name}.${key}`,
      message: 'is a credential, which only an operator enters.',
    })),
    ...(entry.operations ?? []).flatMap(({ name, auto_approve }): Problem[] => {
      const operation = Object.hasOwn(tool.operations, name) ? tool.operations[name] : undefined
      const field = `${tool.name}.${name}`
      if (!operation)
        return [
          {
            field,
            message: `is no operation of ${tool.name}, which has: ${Object.keys(tool.operations).join(', ')}.`,
          },
        ]
      const lifts = auto_approve === true && liftsApproval(operation, { requiresApproval: false })
      if (!lifts) return []
      if (!isApproved)
        return [{ field, message: 'may run unasked only if a person has approved this very call.' }]
      // Whoever approved this call need not be who decides about those.
      const { decidedBy, neverByStarter } = decisionPolicy(operation, held?.operations[name])
      return !neverByStarter && DECIDERS.indexOf(decidedBy) <= DECIDERS.indexOf(approver)
        ? []
        : [{ field, message: 'has a rule about who decides: only a person lifts its approval.' }]
    }),
  ]
}

const unknownTool = async (name: string): Promise<Problem> => ({
  field: 'tool_class',
  message: `names no tool: "${name}". There are: ${Object.keys(registry).join(', ')}.`,
})

const changesOf = ({ enabled, operations = [] }: Entry): ToolConfiguration['changes'] => ({
  ...(typeof enabled === 'boolean' ? { enabled } : {}),
  operations: Object.fromEntries(
    operations.map(operation => [
      operation.name,
      {
        enabled: operation.enabled,
        ...(operation.auto_approve === undefined
          ? {}
          : { requiresApproval: !operation.auto_approve }),
      },
    ]),
  ),
})

const given = ({ description, allow_followup, retry_after_minutes, max_retries }: Slim) => ({
  ...(description === undefined ? {} : { description }),
  ...(allow_followup === undefined ? {} : { allowFollowup: allow_followup }),
  ...(retry_after_minutes === undefined ? {} : { retryAfterMinutes: retry_after_minutes }),
  ...(max_retries === undefined ? {} : { maxRetries: max_retries }),
})
