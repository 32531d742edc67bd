import * as z from 'zod'
import { notFound } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { PrincipalId } from '../principal/principal.ts'

/** Steps that an agent's task may take: the default and the most. */
export const DEFAULT_MAX_STEPS = 10
export const MAX_MAX_STEPS = 100

export const Agent = z.object({
  id: idOf('agent'),
  principalId: PrincipalId,
  name: z.string(),
  description: z.string().optional(),
  systemPrompt: z.string(),
  /** Which model answers; the drivers know what each field means. */
  model: z.object({ provider: z.string(), name: z.string(), baseUrl: z.string().optional() }),
  maxSteps: z.int(),
  createdAt: z.iso.datetime(),
  requestHash: z.string().optional(),
})
export type Agent = z.infer<typeof Agent>

// Access patterns: one agent by id; a principal's agents, newest first.
export const agentKey = (id: Id<'agent'>): table.Key => ({ pk: id, sk: 'agent' })
const indexesOf = (agent: Agent) => ({
  gsi1pk: `${agent.principalId}#agent`,
  gsi1sk: `${agent.createdAt}#${agent.id}`,
})

export const createAgent = (agent: Agent) =>
  table.insert(Agent, agent, { key: agentKey(agent.id), indexes: indexesOf(agent) })

export const findAgent = (id: Id<'agent'>) => table.get(Agent, agentKey(id))

/** One agent, or NOT_FOUND. */
export const getAgent = async (id: Id<'agent'>): Promise<Agent> => {
  const agent = await findAgent(id)
  if (!agent) throw notFound('agent', id)
  return agent
}

export const listAgents = (principalId: PrincipalId, page: { limit: number; cursor?: string }) =>
  table.query(Agent, { index: 'gsi1', pk: `${principalId}#agent`, newestFirst: true, ...page })

/** The agents of these ids that exist, in one batched read. */
export const getAgents = async (ids: Id<'agent'>[]): Promise<Map<string, Agent>> => {
  const found = await table.batchGet(ids.map(agentKey))
  return new Map(
    ids.flatMap(id => {
      const agent = found.get(Agent, agentKey(id))
      return agent ? [[id, agent]] : []
    }),
  )
}
