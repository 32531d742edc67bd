import { type Id, idOf } from '../core/ids.ts'
import type { SettingDefinition } from '../tool/setting.ts'
import type { Scope } from './layer.ts'

/** An agent, as far as a setting that names it asks. */
export type NamedAgent = { name: string; principalId: string }
/** Reads the agents that exist of these ids, by id: what agents are is told in a room above. */
export type AgentReader = (ids: Id<'agent'>[]) => Promise<Map<string, NamedAgent>>

const AgentId = idOf('agent')

/** The agents that a setting's value names; none where it doesn't hold ids of agents. */
export const agentIdsIn = (
  definition: SettingDefinition | undefined,
  value: unknown,
): Id<'agent'>[] => {
  if (definition?.resolveAs !== 'agent') return []
  return [value].flat().flatMap(item => AgentId.safeParse(item).data ?? [])
}

/** Whether a scope may name an agent: one of its own principal's, or any of the instance's. */
export const isKnownTo = (
  { principalId }: Scope,
  agent: NamedAgent | undefined,
): agent is NamedAgent =>
  agent !== undefined && (principalId === undefined || agent.principalId === principalId)

/** What an id is called; one that is foreign or of nobody any more is called by itself. */
export type Names = (id: string) => { name: string; isKnown: boolean }

export const namesIn =
  (scope: Scope, agents: Map<string, NamedAgent>): Names =>
  id => {
    const agent = agents.get(id)
    return isKnownTo(scope, agent)
      ? { name: agent.name, isKnown: true }
      : { name: `#${id}`, isKnown: false }
  }

/** Reads what the ids in these settings are called; nothing is read where there are none. */
export const readNames = async (
  settings: Iterable<{ definition: SettingDefinition; value: unknown }>,
  scope: Scope,
  readAgents: AgentReader,
): Promise<Names> => {
  const ids = [...settings].flatMap(({ definition, value }) => agentIdsIn(definition, value))
  return namesIn(scope, ids.length > 0 ? await readAgents([...new Set(ids)]) : new Map())
}
