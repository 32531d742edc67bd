import * as z from 'zod'
import { AppError } from '../../../lib/core/errors.ts'
import { type Id, idOf } from '../../../lib/core/ids.ts'
import type { CallContext } from '../../../lib/tool/define.ts'
import { setting } from '../../../lib/tool/setting.ts'
import type { Source, Work } from '../../../lib/workflow/spawn.ts'

export const targetAgentId = idOf('agent').describe('The agent to give the work to, by its id.')
export const prompt = z
  .string()
  .min(1)
  .describe('All that the other agent needs to know: it sees nothing of this conversation.')

/** Which agents may be given work: the same words wherever work is given. */
export const allowedTargetAgents = setting.multiSelect({
  label: 'Agents that may be asked',
  required: true,
  scope: 'principal',
  exposeToLlm: true,
  resolveAs: 'agent',
  enumFor: 'target_agent_id',
})

/** The task that asks, and its call; BAD_REQUEST outside of tasks. */
export const sourceOf = ({ task, call }: Pick<CallContext, 'task' | 'call'>): Source => {
  if (!task) throw new AppError('BAD_REQUEST', 'Only a task can give work to another agent.')
  return { sourceId: task.id, callId: call.id }
}

type Asked = { target_agent_id: Id<'agent'>; prompt: string }
type Asking = Pick<
  CallContext<unknown, { allowed_target_agents: string[] }>,
  'settings' | 'agent' | 'principal'
>

/** The agents that are asked, each with its prompt, if this agent may ask all of them. */
export const targetsOf = async <const Many extends readonly Asked[]>(
  { settings, agent, principal }: Asking,
  asked: Many,
): Promise<{ [Index in keyof Many]: Work }> => {
  for (const { target_agent_id: id } of asked) {
    if (id === agent.id) throw new AppError('BAD_REQUEST', 'An agent can not ask itself.')
    if (!settings.allowed_target_agents.includes(id))
      throw new AppError(
        'FORBIDDEN',
        `This agent may not ask ${id}, only: ${settings.allowed_target_agents.join(', ')}.`,
      )
  }
  const { getAgents } = await import('../../../lib/agent/agent.ts')
  const agents = await getAgents(asked.map(({ target_agent_id }) => target_agent_id))
  const works = asked.map(({ target_agent_id: id, prompt }) => {
    const target = agents.get(id)
    // Whatever the list says: an agent of another owner is none of this agent's.
    if (!target || target.principalId !== principal.id)
      throw new AppError('NOT_FOUND', `There is no agent #${id} of the same owner.`)
    return { agent: target, prompt }
  })
  return works as { [Index in keyof Many]: Work }
}
