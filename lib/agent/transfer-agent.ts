import { type Author, auditWrite } from '../audit/audit.ts'
import { AppError, notFound } from '../core/errors.ts'
import { atVersion } from '../data/at-version.ts'
import { transact } from '../data/transact.ts'
import { findConfiguration, isUsableBy } from '../llm/configuration.ts'
import { agentsBy } from '../principal/group.ts'
import { keyTo, listKeys } from '../principal/key.ts'
import { isGroup } from '../principal/permission.ts'
import type { PrincipalId } from '../principal/principal.ts'
import { type Agent, agentIndexes, agentKey, configurationOf } from './agent.ts'

/**
 * Gives an agent to another principal, as it was read, with its tools, its own settings and its
 * keys; undefined where it is of another version by now, or gone. What stays is what the former
 * principal's layer set. NOT_FOUND for a group that has ended; INVALID_STATE for an agent whose LLM
 * configuration would stay behind, or that has too many keys to go at once.
 */
export const transferAgent = async (
  current: Agent,
  to: PrincipalId,
  { by, keyId, clock }: Author,
): Promise<Agent | undefined> => {
  const { id, principalId: from } = current
  if (to === from) return current
  const next: Agent = { ...current, principalId: to, version: current.version + 1 }
  await checkFollows(next)
  const keys = (await listKeys(from)).filter(
    ({ subjectId, revokedAt }) => subjectId === id && revokedAt === undefined,
  )
  if (keys.length > MAX_TRANSFERRED_KEYS)
    throw new AppError(
      'INVALID_STATE',
      `An agent is transferred with at most ${MAX_TRANSFERRED_KEYS} keys, and this one has ${keys.length}. Revoke those that nobody uses.`,
    )
  const { gsi1pk, gsi1sk } = agentIndexes(next)
  const entry = {
    by,
    ...(keyId ? { keyId } : {}),
    action: 'agent-transferred',
    target: id,
    from,
    to,
  }
  const outcome = await transact([
    {
      key: agentKey(id),
      update: { set: { principalId: to, version: next.version, gsi1pk, gsi1sk } },
      where: { principalId: from, ...atVersion(current.version) },
    },
    ...(isGroup(from) ? [agentsBy(from, -1)] : []),
    ...(isGroup(to) ? [agentsBy(to, 1)] : []),
    ...keys.map(key => keyTo(to, key)),
    auditWrite(from, entry, clock),
    auditWrite(to, entry, clock),
  ])
  if (outcome.ok) return next
  if (outcome.failed.includes(0) || !isGroup(to)) return undefined
  throw notFound('group', to)
}

/** A transaction has 100 writes; the agent, two counts and two entries are the others. */
export const MAX_TRANSFERRED_KEYS = 90

/** A former principal's key must not work on for others. */
const checkFollows = async (next: Agent): Promise<void> => {
  const id = configurationOf(next)
  if (id === undefined) return
  const configuration = await findConfiguration(id)
  if (configuration && isUsableBy(configuration, next)) return
  throw new AppError(
    'INVALID_STATE',
    'The agent uses an LLM configuration of its principal, which stays there. Give it another model first.',
  )
}
