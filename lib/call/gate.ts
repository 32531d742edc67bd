import { type Agent, agentKey } from '../agent/agent.ts'
import {
  type AgentTool,
  agentToolKey,
  agentToolOf,
  effectiveOperation,
} from '../agent/agent-tool.ts'
import { errorKind } from '../core/error-kind.ts'
import { AppError } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { log } from '../core/log.ts'
import { didYouMean } from '../core/nearest.ts'
import { invalid } from '../core/problems.ts'
import type { Found, Key } from '../data/table.ts'
import type { PrincipalId } from '../principal/principal.ts'
import {
  cascade,
  cascadeKeys,
  type Effective,
  missingSettings,
  type OpenedSettings,
  openSettings,
} from '../settings/cascade.ts'
import { choiceProblems, choicesOf } from '../tool/choices.ts'
import type { Operation, Tool } from '../tool/define.ts'
import { validateArguments } from './arguments.ts'

/** What passed the gate: everything that running it needs. */
export type Admission = {
  agent: Agent
  tool: Tool
  operation: Operation
  parameters: Record<string, unknown>
  settings: OpenedSettings
  requiresApproval: boolean
}

/** The items that the gate reads for one tool of one agent, in one consistent batch. */
export const gateKeys = (tool: string, agentId: Id<'agent'>, principalId?: PrincipalId): Key[] => [
  agentKey(agentId),
  agentToolKey(agentId, tool),
  ...cascadeKeys(tool, { agentId, ...(principalId ? { principalId } : {}) }),
]

/**
 * The gate that every call passes, whichever way it came, once its agent is known: tool enabled →
 * tool available → operation enabled → arguments valid → approval. It throws the first thing that
 * is wrong; the texts are for models as much as for people.
 */
export const admit = ({
  agent,
  tool,
  operation: name,
  values,
  found,
}: {
  agent: Agent
  tool: Tool
  operation: string | undefined
  values: Record<string, unknown>
  found: Found
}): Admission => {
  const agentTool = agentToolOf(found, agent.id, tool.name)
  if (!agentTool?.enabled)
    throw new AppError('TOOL_DISABLED', `The tool "${tool.name}" is not enabled for this agent.`)
  const settings = availableSettings(tool, cascade(tool, found, scopeOf(agent)))
  const operation = operationOf(tool, name, agentTool)
  const parameters = validateArguments(operation, values)
  checkChoices(tool, operation, { parameters, settings })
  const { requiresApproval } = effectiveOperation(operation, agentTool.operations[operation.name])
  return { agent, tool, operation, parameters, settings, requiresApproval }
}

/** The operations of a tool that an agent may call; none while the tool is disabled. */
export const enabledOperations = (tool: Tool, agentTool: AgentTool | undefined): Operation[] =>
  agentTool?.enabled
    ? Object.values(tool.operations).filter(
        operation => effectiveOperation(operation, agentTool.operations[operation.name]).enabled,
      )
    : []

/** The tool's settings, opened, or why it can't run: a setting is missing, or it says so itself. */
export const availableSettings = (
  tool: Tool,
  effective: Record<string, Effective>,
): OpenedSettings => {
  const missing = missingSettings(effective)
  if (missing.length > 0)
    throw new AppError(
      'SETTING_MISSING',
      `The tool "${tool.name}" can't run before an operator sets: ${missing.join(', ')}.`,
      { details: { missing } },
    )
  const settings = openSettings(tool, effective)
  if (saysAvailable(tool, settings)) return settings
  throw new AppError('TOOL_UNAVAILABLE', `The tool "${tool.name}" is not available at the moment.`)
}

/**
 * The tool's own word. Its code has the opened passwords in its hands, so that what it throws is
 * told to nobody: it goes no further than a log line about where that was.
 */
const saysAvailable = (tool: Tool, { values }: OpenedSettings): boolean => {
  try {
    return tool.available({ settings: values })
  } catch (error) {
    log('warn', 'availability-failed', { tool: tool.name, ...errorKind(error) })
    return false
  }
}

/** Refuses what the tool's settings don't leave to choose. */
const checkChoices = (
  tool: Tool,
  operation: Operation,
  { parameters, settings }: Pick<Admission, 'parameters' | 'settings'>,
): void => {
  const problems = choiceProblems(choicesOf(tool, settings.values), parameters)
  if (problems.length > 0)
    throw invalid(`The arguments of "${operation.name}" are not valid.`, problems)
}

export const scopeOf = (agent: Agent) => ({ agentId: agent.id, principalId: agent.principalId })

const operationOf = (tool: Tool, name: string | undefined, agentTool: AgentTool): Operation => {
  const enabled = enabledOperations(tool, agentTool)
  const names = enabled.map(operation => operation.name).join(', ') || 'none'
  if (name === undefined)
    throw new AppError(
      'VALIDATION_ERROR',
      `Say which operation of "${tool.name}" to run in "${tool.discriminator}". Available: ${names}.`,
      { details: [{ field: tool.discriminator, message: `must be one of: ${names}.` }] },
    )
  if (!Object.hasOwn(tool.operations, name))
    throw new AppError(
      'NOT_FOUND',
      `The tool "${tool.name}" has no operation "${name}".${didYouMean(
        name,
        enabled.map(operation => operation.name),
      )} Available: ${names}.`,
    )
  const operation = enabled.find(candidate => candidate.name === name)
  if (operation) return operation
  throw new AppError('OPERATION_DISABLED', `Operation '${name}' is disabled for this agent.`)
}
