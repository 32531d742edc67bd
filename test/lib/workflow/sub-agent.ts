import { tool } from '../../../functions/tools/sub-agent.ts'
import { getAgent } from '../../../lib/agent/agent.ts'
import { scopeOf } from '../../../lib/call/gate.ts'
import type { Id } from '../../../lib/core/ids.ts'
import { writeLayer } from '../../../lib/settings/write.ts'
import { world } from '../../use-world.ts'

/** A prompt's line that has the rehearsal ask an agent, or hand over to it, with this prompt. */
export const line = (operation: 'sub_agent' | 'handover', target: string, ...prompt: string[]) =>
  `/sub_agent ${operation} ${JSON.stringify({ target_agent_id: target, prompt: prompt.join('\n') })}`

/** Lets an agent ask these others and hand over to them, without anyone's approval. */
export const mayAsk = async (agent: string, ...targets: string[]): Promise<void> => {
  await world.setSettings(agent, 'sub_agent', { allowed_target_agents: targets })
  for (const operation of ['sub_agent', 'handover'])
    await world.override(agent, `sub_agent.${operation}`, { requires_approval: false })
}

/** Lets an agent ask these, whoever owns them: as if each had been given away, or deleted, since. */
export const mayStillAsk = async (id: Id<'agent'>, ...targets: string[]): Promise<void> => {
  const agent = await getAgent(id)
  await writeLayer(
    tool,
    scopeOf(agent),
    { allowed_target_agents: targets },
    {
      by: agent.principalId,
      readAgents: async ids =>
        new Map(ids.map(id => [id, { name: 'Gone', principalId: agent.principalId }])),
    },
  )
}
