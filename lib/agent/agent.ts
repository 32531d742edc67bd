import * as z from 'zod'
import { notFound } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import { FIRST_VERSION } from '../data/at-version.ts'
import * as table from '../data/table.ts'
import type { TransactionWrite } from '../data/transact.ts'
import { PrincipalId } from '../principal/principal.ts'
import { DEFAULT_RETRY_AFTER_MINUTES } from './limits.ts'

/** Whether the model has to call something in a task's first step: anything, or one of its tools. */
export const ToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ tool: z.string() }),
])
export type ToolChoice = z.infer<typeof ToolChoice>

export const Agent = z.object({
  id: idOf('agent'),
  principalId: PrincipalId,
  name: z.string(),
  description: z.string().optional(),
  systemPrompt: z.string(),
  /** Which model answers, the drivers know what each field means; or who says so in its place. */
  model: z.union([
    z.object({ llmConfigurationId: idOf('llm') }),
    z.object({ provider: z.string(), name: z.string(), baseUrl: z.string().optional() }),
  ]),
  maxSteps: z.int(),
  /** What one task may use, of input and output together. */
  maxTokens: z.int().optional(),
  maxCostUsd: z.number().optional(),
  /** What a task that it is the first of may use together with all below it and in its place. */
  maxTreeTokens: z.int().optional(),
  maxTreeCostUsd: z.number().optional(),
  maxRetries: z.int().default(0),
  retryAfterMinutes: z.int().default(DEFAULT_RETRY_AFTER_MINUTES),
  allowFollowup: z.boolean().default(true),
  toolChoice: ToolChoice.default('auto'),
  /** The agent that made it, and may change it. */
  madeBy: idOf('agent').optional(),
  /** The template that it was made from. */
  template: z.object({ id: z.string(), version: z.string() }).optional(),
  version: z.int().default(FIRST_VERSION),
  createdAt: z.iso.datetime(),
  requestHash: z.string().optional(),
})
export type Agent = z.infer<typeof Agent>

// Access patterns: one agent by id; a principal's agents, and those that name an LLM configuration,
// newest first.
export const agentKey = (id: Id<'agent'>): table.Key => ({ pk: id, sk: 'agent' })
/** What a deleted agent leaves: its id is never another's. */
export const remainsKey = (id: Id<'agent'>): table.Key => ({ pk: id, sk: 'remains' })

/**
 * That an agent is still there, and still whose it was as someone was found to govern it: a part of
 * each transaction that changes what belongs to it.
 */
export const stillOf = ({
  id,
  principalId,
}: Pick<Agent, 'id' | 'principalId'>): TransactionWrite => ({
  check: agentKey(id),
  where: { principalId },
})

/** Where an agent is in indexes; undefined where it isn't in one. */
export const agentIndexes = (
  agent: Pick<Agent, 'id' | 'principalId' | 'model' | 'createdAt'>,
): Record<'gsi1pk' | 'gsi1sk', string> & { gsi2pk?: string; gsi2sk?: string } => {
  const place = `${agent.createdAt}#${agent.id}`
  const configuration = configurationOf(agent)
  return {
    gsi1pk: `${agent.principalId}#agent`,
    gsi1sk: place,
    ...(configuration ? { gsi2pk: `${configuration}#agent`, gsi2sk: place } : {}),
  }
}

/** The LLM configuration that an agent names, if it does. */
export const configurationOf = ({ model }: Pick<Agent, 'model'>): Id<'llm'> | undefined =>
  'llmConfigurationId' in model ? model.llmConfigurationId : undefined

export const findAgent = (id: Id<'agent'>) => table.get(Agent, agentKey(id))

/** One agent, or NOT_FOUND. */
export const getAgent = async (id: Id<'agent'>): Promise<Agent> => {
  const agent = await findAgent(id)
  if (!agent) throw notFound('agent', id)
  return agent
}

export const listAgents = (principalId: PrincipalId, page: { limit: number; cursor?: string }) =>
  table.query(Agent, { index: 'gsi1', pk: `${principalId}#agent`, newestFirst: true, ...page })

/** The agents that name an LLM configuration, whoever owns them. */
export const listAgentsOf = (
  configurationId: Id<'llm'>,
  page: { limit: number; cursor?: string },
) =>
  table.query(Agent, { index: 'gsi2', pk: `${configurationId}#agent`, newestFirst: true, ...page })

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
