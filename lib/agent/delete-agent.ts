import * as z from 'zod'
import { type Author, auditWrite } from '../audit/audit.ts'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { type Id, idOf } from '../core/ids.ts'
import { atVersion } from '../data/at-version.ts'
import * as table from '../data/table.ts'
import { transact } from '../data/transact.ts'
import { clearConfigurations } from '../llm/configuration.ts'
import { listKeys, revokeKey } from '../principal/key.ts'
import { PrincipalId } from '../principal/principal.ts'
import { layerKey } from '../settings/layer.ts'
import { type Agent, agentKey, remainsKey } from './agent.ts'
import { listAgentTools } from './agent-tool.ts'
import { countsOf } from './counts.ts'
import { clearNotes } from './note.ts'
import { clipped, toldOf } from './told.ts'

/** What stays of a deleted agent, so that its deletion can be finished, and its id not be taken. */
export const Remains = z.object({
  id: idOf('agent'),
  principalId: PrincipalId,
  deletedAt: z.iso.datetime(),
  /** Nothing else of it is left. */
  clearedAt: z.iso.datetime().optional(),
})
export type Remains = z.infer<typeof Remains>

const Row = z.object({ pk: z.string(), sk: z.string() })

/** What is left of a deleted agent while something is; undefined afterwards, and before. */
export const findRemains = async (id: Id<'agent'>): Promise<Remains | undefined> => {
  const remains = await table.get(Remains, remainsKey(id))
  return remains?.clearedAt === undefined ? remains : undefined
}

/**
 * Ends an agent as it was read; undefined where it is of another version by now, or gone. From here
 * on nobody reads it and nothing of it runs; `clearRemains` takes away what belonged to it, and then
 * `closeRemains` says so.
 */
export const deleteAgent = async (
  agent: Agent,
  { by, keyId, clock = systemClock }: Author,
): Promise<Remains | undefined> => {
  const { id, principalId } = agent
  const remains: Remains = { id, principalId, deletedAt: isoNow(clock) }
  const outcome = await transact([
    { remove: agentKey(id), where: atVersion(agent.version) },
    { insert: remains, key: remainsKey(id) },
    ...countsOf(agent, -1),
    auditWrite(
      principalId,
      {
        by,
        ...(keyId ? { keyId } : {}),
        action: 'agent-deleted',
        target: id,
        from: clipped(toldOf(agent)),
      },
      clock,
    ),
  ])
  return outcome.ok ? remains : undefined
}

/**
 * Takes away what belonged to a deleted agent: its keys count no more, and its own settings of every
 * tool, its LLM configurations (the secrets in both), its notes and its rows of tools go. May be done again,
 * and goes on where it was left. `tools` are the names of all tools there are.
 */
export const clearRemains = async (
  { id, principalId }: Remains,
  tools: string[],
  clock: Clock = systemClock,
): Promise<void> => {
  for (const key of await listKeys(principalId))
    if (key.subjectId === id && key.revokedAt === undefined) await revokeKey(key.id, { clock })
  const agentTools = (await listAgentTools(id)).map(({ tool }) => tool)
  // The settings go before the row that names their tool, which may be gone from the registry.
  for (const tool of new Set([...tools, ...agentTools])) await table.remove(layerKey(tool, id))
  for (const key of await table.queryAll(Row, { pk: id }))
    if (key.sk !== remainsKey(id).sk) await table.remove(key)
  await clearNotes(id)
  await clearConfigurations(id)
}

/** Says that nothing is left of a deleted agent but its id. */
export const closeRemains = async ({ id }: Remains, clock: Clock = systemClock): Promise<void> => {
  await table.update(Remains, remainsKey(id), { set: { clearedAt: isoNow(clock) } })
}
