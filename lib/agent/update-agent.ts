import { isDeepStrictEqual } from 'node:util'
import { type Author, auditWrite } from '../audit/audit.ts'
import { atVersion } from '../data/at-version.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { usedBy } from '../llm/configuration.ts'
import { type Agent, agentIndexes, agentKey, configurationOf } from './agent.ts'
import { checkModel } from './counts.ts'
import { clipped, toldOf } from './told.ts'

const OPTIONAL = [
  'description',
  'maxTokens',
  'maxCostUsd',
  'maxTreeTokens',
  'maxTreeCostUsd',
] as const

/** What an operator says anew of an agent; `null` takes away what there is. */
export type AgentChanges = Partial<
  Pick<
    Agent,
    | 'name'
    | 'systemPrompt'
    | 'model'
    | 'maxSteps'
    | 'maxRetries'
    | 'retryAfterMinutes'
    | 'allowFollowup'
    | 'toolChoice'
  > & { [Field in (typeof OPTIONAL)[number]]: Agent[Field] | null }
>

/**
 * Changes an agent as it was read, with an entry in the log for each field; undefined where it is of
 * another version by now, or gone. What changes nothing is no new version. NOT_FOUND for an LLM
 * configuration that is none of this agent's.
 */
export const updateAgent = async (
  current: Agent,
  changes: AgentChanges,
  { by, keyId, clock }: Author,
): Promise<Agent | undefined> => {
  const next = applied(current, changes)
  const [before, after] = [toldOf(current), toldOf(next)]
  const changed = Object.keys(after).filter(
    field => !isDeepStrictEqual(before[field], after[field]),
  )
  if (changed.length === 0) return current
  if (changed.includes('model')) await checkModel(next)
  const [from, to] = [clipped(before), clipped(after)]
  const { id, principalId, createdAt, requestHash: _, ...fields } = next
  const { gsi1pk: __, gsi1sk: ___, ...place } = agentIndexes(next)
  const outcome = await transact([
    {
      key: agentKey(id),
      update: {
        set: { ...fields, ...place },
        remove: [
          ...OPTIONAL.filter(field => next[field] === undefined),
          ...(place.gsi2pk === undefined ? ['gsi2pk', 'gsi2sk'] : []),
        ],
      },
      where: atVersion(current.version),
    },
    ...configurationChange(current, next),
    ...changed.map(field =>
      auditWrite(
        principalId,
        {
          by,
          ...(keyId ? { keyId } : {}),
          action: 'agent-changed',
          target: id,
          field,
          from: from[field] ?? null,
          to: to[field] ?? null,
        },
        clock,
      ),
    ),
  ])
  if (outcome.ok) return next
  // The configuration that it was to name may have gone in this moment.
  if (!outcome.failed.includes(0)) await checkModel(next)
  return undefined
}

const applied = (current: Agent, changes: AgentChanges): Agent => {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  const next = { ...current, ...Object.fromEntries(given), version: current.version + 1 }
  for (const field of OPTIONAL) if (next[field] === null) delete next[field]
  return next
}

/** What another model does to the counts of configurations; none where both name the same. */
const configurationChange = (current: Agent, next: Agent): TransactionWrite[] => {
  const [before, after] = [configurationOf(current), configurationOf(next)]
  if (before === after) return []
  return [...(before ? [usedBy(before, -1)] : []), ...(after ? [usedBy(after, 1)] : [])]
}
