import { notFound } from '../core/errors.ts'
import type { TransactionWrite } from '../data/transact.ts'
import { findConfiguration, isUsableBy, usedBy } from '../llm/configuration.ts'
import { agentsBy } from '../principal/group.ts'
import { isGroup } from '../principal/permission.ts'
import { type Agent, configurationOf } from './agent.ts'

/** What an agent that comes to a principal and a configuration, or goes, does to their counts. */
export const countsOf = (
  agent: Pick<Agent, 'principalId' | 'model'>,
  count: 1 | -1,
): TransactionWrite[] => {
  const configuration = configurationOf(agent)
  return [
    ...(isGroup(agent.principalId) ? [agentsBy(agent.principalId, count)] : []),
    ...(configuration ? [usedBy(configuration, count)] : []),
  ]
}

/** Refuses an LLM configuration that is none of this agent's: it is NOT_FOUND. */
export const checkModel = async (
  agent: Pick<Agent, 'id' | 'principalId' | 'model'>,
): Promise<void> => {
  const id = configurationOf(agent)
  if (id === undefined) return
  const configuration = await findConfiguration(id)
  if (!configuration || !isUsableBy(configuration, agent)) throw notFound('LLM configuration', id)
}
