import * as z from 'zod'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { result } from '../../lib/tool/result.ts'
import {
  allowedTargetAgents,
  prompt,
  sourceOf,
  targetAgentId,
  targetsOf,
} from './subagents/target.ts'

export const tool = defineTool({
  name: 'sub_agent',
  description: 'Gives work to another agent of the same owner.',
  displayName: 'Sub-agent',
  category: 'system',
  icon: 'users',
  discriminator: 'op',
  settings: {
    allowed_target_agents: allowedTargetAgents,
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
      execute: async ({ parameters, call, clock, ...context }) => {
        const source = sourceOf({ ...context, call })
        const [target] = await targetsOf(context, [parameters])
        const { spawnChildren } = await import('../../lib/workflow/spawn.ts')
        const terms = { spawn: { awaited: true, attention: true } }
        const children = await spawnChildren(source, [target], terms, clock)
        const ids = children.map(({ id }) => id)
        return result({
          content: `The task ${ids} was started; its answer follows.`,
          data: { spawned_sub_task_ids: ids },
          children: ids,
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
      execute: async ({ parameters, call, clock, ...context }) => {
        const source = sourceOf({ ...context, call })
        const [target] = await targetsOf(context, [parameters])
        const { spawnSuccessor } = await import('../../lib/workflow/spawn.ts')
        const successor = await spawnSuccessor(source, target, clock)
        return result({
          content: `Handed off to ${target.agent.name}.`,
          data: {
            handover: {
              target_task_id: successor.id,
              target_agent_id: target.agent.id,
              target_agent_name: target.agent.name,
            },
          },
          handover: successor.id,
        })
      },
    },
  },
})

export const handler = serve(tool)
