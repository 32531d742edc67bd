import { findAgent, stillOf } from '../agent/agent.ts'
import type { AuditOwner } from '../audit/audit.ts'
import { type AppError, notFound } from '../core/errors.ts'
import { is } from '../data/expression.ts'
import type { TransactionWrite } from '../data/transact.ts'
import { type ConfigurationOwner, getConfiguration, type Keeper } from '../llm/configuration.ts'
import type { Caller } from '../principal/caller.ts'
import { allows, relationToInstance } from '../principal/permission.ts'
import { principalKey } from '../principal/principal.ts'
import { access, demand, usersOnly } from './access.ts'
import { demandInstance } from './admin-access.ts'
import { authorOf } from './author.ts'
import { LlmConfigurationId } from './wire.ts'

/** What someone may want with configurations: see that they are there, or govern them. */
export type Wish = 'read' | 'manage'

/**
 * Lets through who may do this with the configurations of an owner, and says whose log tells of
 * it. Those that are everyone's every user may see, and only admins govern.
 */
export const demandConfigurations = async (
  caller: Caller,
  wish: Wish,
  { owner, missing }: { owner: ConfigurationOwner; missing: () => AppError },
): Promise<AuditOwner> => {
  if (owner === 'global') {
    if (wish === 'manage') demandInstance(caller)
    if (caller.kind !== 'user') throw usersOnly()
    return 'instance'
  }
  if (!isAgent(owner)) {
    const permission = wish === 'read' ? 'read' : 'manage-settings'
    await demand(caller, permission, { principalId: owner }, missing)
    return owner
  }
  const agent = await findAgent(owner)
  if (!agent) throw missing()
  const { principalId } = agent
  await demand(caller, wish === 'read' ? 'read' : 'manage-agents', { principalId }, missing)
  return principalId
}

/** Who changes a configuration of an owner, as the log and the guard of addresses ask. */
export const keeperOf = (
  caller: Caller,
  { owner, auditOwner }: { owner: ConfigurationOwner; auditOwner: AuditOwner },
): Keeper => ({
  ...authorOf(caller),
  auditOwner,
  isAdmin: allows(relationToInstance(caller), 'manage-instance'),
  holds: holdsFor(owner, auditOwner),
})

/** What an owner has goes with it, and an agent's with the agent to others. */
const holdsFor = (owner: ConfigurationOwner, auditOwner: AuditOwner): TransactionWrite[] => {
  if (owner === 'global' || auditOwner === 'instance') return []
  return isAgent(owner)
    ? [stillOf({ id: owner, principalId: auditOwner })]
    : [{ check: principalKey(owner), where: { pk: is.present } }]
}

const configurationFor = (wish: Wish, who: string) =>
  access({
    who,
    what: 'LLM configuration',
    params: { id: LlmConfigurationId },
    errors: ['NOT_FOUND', 'FORBIDDEN'],
    find: async ({ caller, params: { id } }) => {
      const configuration = await getConfiguration(id)
      const missing = () => notFound('LLM configuration', id)
      const { owner } = configuration
      const auditOwner = await demandConfigurations(caller, wish, { owner, missing })
      return { configuration, auditOwner }
    },
  })

export const readableConfiguration = configurationFor(
  'read',
  'A user’s key: of whom it belongs to, of a member of the group that it or its agent belongs to, or an admin’s; everyone’s where it is global.',
)
export const managedConfiguration = configurationFor(
  'manage',
  'A key of whom it belongs to, of an owner or admin of the group that it or its agent belongs to, or an admin’s; where it is global, an admin’s.',
)

export const isAgent = (
  owner: ConfigurationOwner,
): owner is Extract<ConfigurationOwner, `agent_${string}`> => owner.startsWith('agent_')
