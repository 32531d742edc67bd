import { type Agent, findAgent, getAgent } from '../agent/agent.ts'
import { findRemains, type Remains } from '../agent/delete-agent.ts'
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

/** The agent in the path, for those who may give it away; where it goes has a rule of its own. */
export const transferableAgent = agentFor(
  'transfer',
  'A key of the agent’s owner, of an owner of the group that owns it, or an admin’s; the same of who gets it.',
)

/** The agent in the path, or what a deletion has left of it so far. */
export const removableAgent = access({
  ...managedAgent,
  find: async ({ caller, params }): Promise<Agent | Remains> => {
    const subject = (await findAgent(params.id)) ?? (await findRemains(params.id))
    const missing = () => notFound('agent', params.id)
    if (!subject) throw missing()
    await demand(caller, 'manage-agents', subject, missing)
    return subject
  },
})

/** The agent that a body names, for those who may have it run. */
export const runnableAgent = async (caller: Caller, id: Agent['id']): Promise<Agent> => {
  const agent = await getAgent(id)
  await demand(caller, 'run', agent, () => notFound('agent', id))
  return agent
}
