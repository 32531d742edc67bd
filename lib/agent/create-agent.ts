import type * as z from 'zod'
import { type Author, auditWrite } from '../audit/audit.ts'
import { AppError, notFound } from '../core/errors.ts'
import { is } from '../data/expression.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { Agent, agentIndexes, agentKey, getAgent, remainsKey } from './agent.ts'
import { checkModel, countsOf } from './counts.ts'
import { clipped, type Told, toldOf } from './told.ts'

/** An agent to be made; what is absent is as usual. */
export type NewAgent = Omit<z.input<typeof Agent>, 'version'>

/**
 * Makes an agent, which counts for its group and its LLM configuration; the same id again gives the
 * one that has it. NOT_FOUND where there is no such group, or no such configuration for this agent;
 * INVALID_STATE for the id of an agent that was deleted. `more` is made with it, or nothing is, and
 * `told` is what the log tells beside the agent's fields.
 */
export const createAgent = async (
  asked: NewAgent,
  author: Author,
  { more = [], told = {} }: { more?: TransactionWrite[]; told?: Told } = {},
): Promise<{ agent: Agent; created: boolean }> => {
  const agent = Agent.parse(asked)
  const { by, keyId, clock } = author
  await checkModel(agent)
  const outcome = await transact([
    { insert: agent, key: agentKey(agent.id), indexes: agentIndexes(agent) },
    { check: remainsKey(agent.id), where: { pk: is.absent } },
    ...countsOf(agent, 1),
    auditWrite(
      agent.principalId,
      {
        by,
        ...(keyId ? { keyId } : {}),
        action: 'agent-created',
        target: agent.id,
        to: clipped({ ...toldOf(agent), ...told }),
      },
      clock,
    ),
    ...more,
  ])
  if (outcome.ok) return { agent, created: true }
  if (outcome.failed.includes(0)) return { agent: await getAgent(agent.id), created: false }
  if (outcome.failed.includes(1))
    throw new AppError('INVALID_STATE', `The agent ${agent.id} was made before, and deleted since.`)
  await checkModel(agent)
  throw notFound('group', agent.principalId)
}

/** Writes of `createAgent` beside those that it is given: the agent, its counts, the log. */
export const CREATION_WRITES = 5
