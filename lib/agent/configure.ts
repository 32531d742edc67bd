import { setTimeout as sleep } from 'node:timers/promises'
import type { Author } from '../audit/audit.ts'
import { isoNow, systemClock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import { invalid, type Problem } from '../core/problems.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { planChange } from '../settings/change.ts'
import { layerWrites, readLayer } from '../settings/write.ts'
import type { Tool } from '../tool/define.ts'
import { type Agent, getAgents, stillOf } from './agent.ts'
import { agentToolWrites, getAgentTool, type ToolChanges } from './agent-tool.ts'

/** What is to become of one tool of an agent: whether it is enabled, its operations, its settings. */
export type ToolConfiguration = {
  tool: Tool
  changes: ToolChanges
  settings: Record<string, unknown>
}

/** What one transaction of DynamoDB writes, without the check that the agent is still there. */
const MAX_WRITES = 99
const ATTEMPTS = 8
const RETRY_MS = 25

/**
 * Changes several tools of an agent at once, or nothing at all: every problem of every tool is
 * VALIDATION_ERROR before anything is written, and all is logged with the change. NOT_FOUND where
 * the agent is gone or another's by now, INVALID_STATE where others change the same all the time.
 */
export const configureTools = async (
  agent: Agent,
  configurations: ToolConfiguration[],
  author: Author,
): Promise<void> => {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const writes = await planAll(agent, configurations, author)
    if (writes.length === 0) return
    if (writes.length > MAX_WRITES)
      throw invalid('Nothing was changed.', [
        {
          field: 'tools',
          message: `make ${writes.length} changes; at most ${MAX_WRITES} go at once. Configure fewer tools in one call.`,
        },
      ])
    const outcome = await transact([stillOf(agent), ...writes])
    if (outcome.ok) return
    if (outcome.failed.includes(0)) throw notFound('agent', agent.id)
    await sleep(Math.random() * RETRY_MS * attempt)
  }
  throw new AppError('INVALID_STATE', 'Others change these tools all the time. Try again.')
}

/** All writes, or all problems, each field with its tool's name before it. */
const planAll = async (
  agent: Agent,
  configurations: ToolConfiguration[],
  author: Author,
): Promise<TransactionWrite[]> => {
  const problems: Problem[] = []
  const writes: TransactionWrite[] = []
  for (const { tool, changes, settings } of configurations) {
    const current = await getAgentTool(agent.id, tool.name)
    writes.push(...agentToolWrites(agent, tool.name, { current, changes }, author))
    if (Object.keys(settings).length === 0) continue
    const scope = { agentId: agent.id, principalId: agent.principalId }
    const layer = await readLayer(tool.name, scope)
    const { by, clock = systemClock } = author
    try {
      const place = { scope, layer, readAgents: getAgents }
      const planned = await planChange(tool, place, settings, { by, at: isoNow(clock) })
      if (planned.log.length > 0)
        writes.push(...layerWrites(tool, { scope, layer }, planned, author))
    } catch (error) {
      if (!(error instanceof AppError) || !isProblems(error.details)) throw error
      problems.push(
        ...error.details.map(({ field, message }) => ({ field: `${tool.name}.${field}`, message })),
      )
    }
  }
  if (problems.length > 0) throw invalid('Nothing was changed.', problems)
  return writes
}

const isProblems = (details: unknown): details is Problem[] =>
  Array.isArray(details) && details.every(item => 'field' in item && 'message' in item)
