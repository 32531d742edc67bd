import * as z from 'zod'
import { AppError } from '../../lib/core/errors.ts'
import { type Id, idOf } from '../../lib/core/ids.ts'
import { serve } from '../../lib/http/serve.ts'
import { type CallContext, defineTool } from '../../lib/tool/define.ts'
import { result } from '../../lib/tool/result.ts'
import { setting } from '../../lib/tool/setting.ts'

const targetAgentId = idOf('agent').describe('The agent to give the work to, by its id.')
const prompt = z
  .string()
  .min(1)
  .describe('All that the other agent needs to know: it sees nothing of this conversation.')

type Settings = { allowed_target_agents: string[] }

export const tool = defineTool({
  name: 'sub_agent',
  description: 'Gives work to another agent of the same owner.',
  displayName: 'Sub-agent',
  category: 'system',
  icon: 'users',
  discriminator: 'op',
  settings: {
    allowed_target_agents: setting.multiSelect({
      label: 'Agents that may be asked',
      required: true,
      scope: 'principal',
      exposeToLlm: true,
      resolveAs: 'agent',
      enumFor: 'target_agent_id',
    }),
  },
  operations: {
    sub_agent: {
      description: 'Have another agent do a task, and go on with what it answers.',
      parameters: z.object({ target_agent_id: targetAgentId, prompt }),
      // The child's id follows from the call: done again, it is the same child.
      effect: 'idempotent',
      requiresApprovalByDefault: true,
      touches: ['agents', 'tasks', 'workflow'],
      describe: ({ target_agent_id, prompt }) => `Ask ${target_agent_id}: ${prompt}`,
      execute: async context => {
        const child = await spawn(context, 'child')
        return result({
          content: `The task ${child.id} was started; its answer follows.`,
          data: { spawned_sub_task_ids: [child.id] },
          children: [child.id],
        })
      },
    },
    handover: {
      description:
        'Hand the whole task over to another agent and end this one. Call it alone, once all other calls are answered.',
      parameters: z.object({ target_agent_id: targetAgentId, prompt }),
      endsTask: true,
      effect: 'idempotent',
      requiresApprovalByDefault: true,
      touches: ['agents', 'tasks', 'workflow'],
      describe: ({ target_agent_id, prompt }) => `Hand over to ${target_agent_id}: ${prompt}`,
      execute: async context => {
        const target = await spawn(context, 'successor')
        return result({
          content: `Handed off to ${target.agentName}.`,
          data: {
            handover: {
              target_task_id: target.id,
              target_agent_id: context.parameters.target_agent_id,
              target_agent_name: target.agentName,
            },
          },
          handover: target.id,
        })
      },
    },
  },
})

export const handler = serve(tool)

type Request = { target_agent_id: Id<'agent'>; prompt: string }

/** Starts the other agent's task, if this agent may ask it. */
const spawn = async (
  { parameters, settings, agent, principal, task, call, clock }: CallContext<Request, Settings>,
  role: 'child' | 'successor',
) => {
  const { target_agent_id: targetId, prompt } = parameters
  if (!task) throw new AppError('BAD_REQUEST', 'Only a task can give work to another agent.')
  if (targetId === agent.id) throw new AppError('BAD_REQUEST', 'An agent can not ask itself.')
  if (!settings.allowed_target_agents.includes(targetId))
    throw new AppError(
      'FORBIDDEN',
      `This agent may ask only: ${settings.allowed_target_agents.join(', ')}.`,
    )
  const { getAgents } = await import('../../lib/agent/agent.ts')
  const target = (await getAgents([targetId])).get(targetId)
  // Whatever the list says: an agent of another owner is none of this agent's.
  if (!target || target.principalId !== principal.id)
    throw new AppError('NOT_FOUND', `There is no agent #${targetId} of the same owner.`)
  const { spawnTask } = await import('../../lib/workflow/spawn.ts')
  const spawned = await spawnTask(
    { sourceId: task.id, callId: call.id, agent: target, prompt, role },
    clock,
  )
  return { id: spawned.id, agentName: target.name }
}
