import { isoIn } from '../../../lib/core/clock.ts'
import type { Id } from '../../../lib/core/ids.ts'
import type { CallContext } from '../../../lib/tool/define.ts'
import { result } from '../../../lib/tool/result.ts'
import { spawnChildren } from '../../../lib/workflow/spawn.ts'
import { sourceOf, targetsOf } from './target.ts'

/** The most that a setting lets run at once: a claim looks at all slots. */
export const MAX_MAX_CONCURRENT = 1_000

type Terms = { wait: boolean; wait_seconds?: number | undefined; attention: boolean }
type Settings = { allowed_target_agents: string[]; max_concurrent: number }
type Asked = { target_agent_id: Id<'agent'>; prompt: string }

/** Starts sub-agents for the task that asks, which waits for them or goes on beside them. */
export const spawn = async (context: CallContext<Terms, Settings>, asked: readonly Asked[]) => {
  const { parameters, settings, clock } = context
  const source = sourceOf(context)
  const works = await targetsOf(context, asked)
  const { wait, wait_seconds, attention } = parameters
  const waitUntil =
    wait && wait_seconds !== undefined ? isoIn(wait_seconds * 1_000, clock) : undefined
  const children = await spawnChildren(
    source,
    [...works],
    {
      spawn: {
        awaited: wait,
        attention: wait || attention,
        ...(waitUntil ? { awaitedUntil: waitUntil } : {}),
      },
      maxConcurrent: maxConcurrentOf(settings),
    },
    clock,
  )
  const ids = children.map(({ id }) => id)
  return result({
    content: { state: wait ? 'pending' : 'started', task_ids: ids },
    data: { spawned_sub_task_ids: ids },
    ...(wait
      ? { children: ids, reports: true, ...(waitUntil ? { waitUntil } : {}) }
      : attention
        ? { beside: ids }
        : { detached: ids }),
  })
}

/** A whole number that makes sense, whatever an operator has entered. */
const maxConcurrentOf = ({ max_concurrent }: Settings): number =>
  Math.min(Math.max(1, Math.floor(max_concurrent)), MAX_MAX_CONCURRENT)
