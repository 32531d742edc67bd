import * as z from 'zod'
import type { Id } from '../../../lib/core/ids.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { result } from '../../../lib/tool/result.ts'

/** What one result has, in bytes: the 2 KB. */
const RESULT_BYTES = 2_048

/** When each call of a task ran, in milliseconds of `performance.now()`, by the task. */
export const ranAt = new Map<Id<'task'> | undefined, number[]>()

const number = z.object({ number: z.int() })

/** A text of 2 KB, another one for each number: the same again and again would be a loop. */
export const read = (number: number): string => `${number} `.padEnd(RESULT_BYTES, 'pear ')

/** Spawning hundreds takes longer than an awaited operation may. */
const SPAWN_TIMEOUT_SECONDS = 600

export const tool = defineTool({
  name: 'bench',
  description: 'Does what the bench measures.',
  operations: {
    read: {
      description: 'Read 2 KB.',
      parameters: number,
      effect: 'read',
      describe: ({ number }) => `Read ${number}`,
      execute: ({ parameters, task }) => {
        stamp(task?.id)
        return read(parameters.number)
      },
    },
    ask: {
      description: 'Read 2 KB, once somebody has approved it.',
      parameters: number,
      effect: 'read',
      requiresApprovalByDefault: true,
      describe: ({ number }) => `Read ${number}`,
      execute: ({ parameters }) => read(parameters.number),
    },
    spawn: {
      description: 'Have this many children do nothing, and wait for them.',
      parameters: z.object({ count: z.int().min(1) }),
      effect: 'idempotent',
      timeoutSeconds: SPAWN_TIMEOUT_SECONDS,
      touches: ['agents', 'tasks', 'workflow'],
      describe: ({ count }) => `Spawn ${count}`,
      execute: async ({ parameters: { count }, call, agent, task, clock }) => {
        if (!task) throw new Error('Only a task can spawn.')
        stamp(task.id)
        const { getAgent } = await import('../../../lib/agent/agent.ts')
        const { spawnChildren } = await import('../../../lib/workflow/spawn.ts')
        const work = { agent: await getAgent(agent.id), prompt: 'Say hello.' }
        const children = await spawnChildren(
          { sourceId: task.id, callId: call.id },
          Array.from({ length: count }, () => work),
          { spawn: { awaited: true, attention: true } },
          clock,
        )
        return result({ content: `Spawned ${count}.`, children: children.map(({ id }) => id) })
      },
    },
  },
})

const stamp = (taskId: Id<'task'> | undefined): void => {
  ranAt.set(taskId, [...(ranAt.get(taskId) ?? []), performance.now()])
}
