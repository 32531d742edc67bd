import { getAgent } from '../agent/agent.ts'
import { notFound } from '../core/errors.ts'
import { governs } from '../principal/caller.ts'
import { access } from './access.ts'
import { AgentId } from './wire.ts'

/** The agent in the path, for whoever governs its owner. */
export const governedAgent = access({
  who: 'A key of the agent’s owner, or an admin’s.',
  what: 'agent',
  params: { id: AgentId },
  errors: ['NOT_FOUND'],
  find: async ({ caller, params }) => {
    const agent = await getAgent(params.id)
    if (!governs(caller, agent.principalId)) throw notFound('agent', agent.id)
    return agent
  },
})
