import * as z from 'zod'
import { idOf } from '../../lib/core/ids.ts'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'
import { MAX_WAIT_SECONDS } from '../../lib/workflow/definition.ts'
import { allowedTargetAgents, prompt, targetAgentId } from './subagents/target.ts'

/** Sub-agents that one call starts at most: a person reads all of their prompts who approves it. */
export const MAX_SPAWN_BATCH = 64
/** Sub-agents of one agent that run at once, unless an operator says otherwise. */
export const DEFAULT_MAX_CONCURRENT = 4

const taskId = idOf('task').describe('The sub-agent’s task, by its id.')
const waitSeconds = z
  .int()
  .min(1)
  .max(MAX_WAIT_SECONDS)
  .optional()
  .describe('With wait: after so many seconds the answer is "pending", and the sub-agents go on.')
const terms = {
  wait: z
    .boolean()
    .default(false)
    .describe(
      'True: answer when they have ended. False: answer at once, they run beside this task.',
    ),
  wait_seconds: waitSeconds,
  attention: z
    .boolean()
    .default(true)
    .describe(
      'Without wait: false has this task neither wait for them at its end nor hear of theirs.',
    ),
}

const STARTS = ['agents', 'tasks', 'workflow'] as const

export const tool = defineTool({
  name: 'subagents',
  description:
    'Gives work to other agents of the same owner, one or many at once, while this task goes on or waits. Whoever runs beside it is told of by a message "[subagent attention]" once it has ended.',
  displayName: 'Sub-agents',
  category: 'system',
  icon: 'network',
  discriminator: 'op',
  settings: {
    allowed_target_agents: allowedTargetAgents,
    max_concurrent: setting.number({
      label: 'Sub-agents at once',
      description:
        'How many that this agent started run at the same time; the rest wait their turn. Those that its sub-agents’ tasks start may take all but one.',
      default: DEFAULT_MAX_CONCURRENT,
    }),
  },
  operations: {
    spawn_subagent: {
      description: 'Have another agent do a task.',
      parameters: z.object({ target_agent_id: targetAgentId, prompt, ...terms }),
      effect: 'idempotent',
      requiresApprovalByDefault: true,
      touches: STARTS,
      describe: ({ target_agent_id, prompt }) => `Ask ${target_agent_id}: ${prompt}`,
      execute: async context => {
        const { spawn } = await import('./subagents/spawn.ts')
        return spawn(context, [context.parameters])
      },
    },
    spawn_subagents: {
      description: 'Have other agents do several tasks side by side.',
      parameters: z.object({
        subagents: z
          .array(z.object({ target_agent_id: targetAgentId, prompt }))
          .min(1)
          .max(MAX_SPAWN_BATCH)
          .describe('Who is to do what.'),
        ...terms,
      }),
      effect: 'idempotent',
      requiresApprovalByDefault: true,
      touches: STARTS,
      describe: ({ subagents }) =>
        `Ask ${subagents.length}: ${subagents.map(({ target_agent_id, prompt }) => `${target_agent_id}: ${prompt}`).join('; ')}`,
      execute: async context => {
        const { spawn } = await import('./subagents/spawn.ts')
        return spawn(context, context.parameters.subagents)
      },
    },
    subagent_status: {
      description: 'Tell how a sub-agent of this task stands.',
      parameters: z.object({ task_id: taskId }),
      effect: 'read',
      touches: ['tasks'],
      describe: ({ task_id }) => `Look at ${task_id}`,
      execute: async context => {
        const { status } = await import('./subagents/look.ts')
        return status(context, context.parameters.task_id)
      },
    },
    subagent_result: {
      description:
        'What came of a sub-agent, with all that it said: of this task, or of another one in its tree.',
      parameters: z.object({
        task_id: taskId,
        wait: z.boolean().default(false).describe('True: answer when it has ended.'),
        wait_seconds: waitSeconds,
      }),
      effect: 'idempotent',
      touches: ['tasks'],
      describe: ({ task_id, wait }) => `${wait ? 'Wait for' : 'Read'} the result of ${task_id}`,
      execute: async context => {
        const { outcome } = await import('./subagents/look.ts')
        return outcome(context, context.parameters)
      },
    },
    subagent_list: {
      description: 'List the sub-agents that this task has started, and how each stands.',
      parameters: z.object({}),
      effect: 'read',
      touches: ['tasks'],
      describe: () => 'List the sub-agents',
      execute: async context => {
        const { list } = await import('./subagents/look.ts')
        return list(context)
      },
    },
    subagent_cancel: {
      description:
        'Cancel a sub-agent of this task for good, with all that it has started, running or not. What it has made stays.',
      parameters: z.object({ task_id: taskId }),
      effect: 'idempotent',
      touches: ['tasks', 'workflow'],
      describe: ({ task_id }) => `Cancel ${task_id}`,
      execute: async context => {
        const { cancel } = await import('./subagents/cancel.ts')
        return cancel(context, context.parameters.task_id)
      },
    },
  },
})

export const handler = serve(tool)
