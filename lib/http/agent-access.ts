import { type Agent, getAgent } from '../agent/agent.ts'
import { notFound } from '../core/errors.ts'
import type { Caller } from '../principal/caller.ts'
import type { Permission } from '../principal/permission.ts'
import { access, demand } from './access.ts'
import { AgentId } from './wire.ts'

/** The agent in the path, for those who may do this with it. */
const agentFor = (permission: Permission, who: string) =>
  access({
    who,
    what: 'agent',
    params: { id: AgentId },
    errors: permission === 'read' ? ['NOT_FOUND'] : ['NOT_FOUND', 'FORBIDDEN'],
    find: async ({ caller, params }): Promise<Agent> => {
      const agent = await getAgent(params.id)
      await demand(caller, permission, agent, () => notFound('agent', agent.id))
      return agent
    },
  })

export const readableAgent = agentFor(
  'read',
  'A key of the agent’s owner, of a member of the group that owns it, or an admin’s.',
)
export const managedAgent = agentFor(
  'manage-agents',
  'A key of the agent’s owner, of an owner or admin of the group that owns it, or an admin’s.',
)

/** The agent that a body names, for those who may have it run. */
export const runnableAgent = async (caller: Caller, id: Agent['id']): Promise<Agent> => {
  const agent = await getAgent(id)
  await demand(caller, 'run', agent, () => notFound('agent', id))
  return agent
}
