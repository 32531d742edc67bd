import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { createClient, dataOf } from '../../../functions/client.ts'
import { routeTable } from '../../../functions/routes.ts'
import { tools } from '../../../functions/tools/index.ts'
import { getItem } from '../../../lib/aws/dynamodb.ts'
import { config } from '../../../lib/core/config.ts'
import type { Id } from '../../../lib/core/ids.ts'
import { setLogSink } from '../../../lib/core/log.ts'
import { serve } from '../../../lib/http/serve.ts'
import { type StackOptions, startStack } from '../../../lib/local/stack.ts'
import { type Task, taskKey } from '../../../lib/task/task.ts'
import { loadFunction } from '../../load-function.ts'
import { BY_BENCH, watchRequests } from './requests.ts'
import { tool } from './tool.ts'
import { less, type Used } from './used.ts'

export type Stage = Awaited<ReturnType<typeof openStage>>

const POLL_MS = 10
/** How often in a row all must be seen to rest: a busy machine may look at long intervals. */
const LOOKS = 8
const PATIENCE_MS = 300_000
const MAX_STEPS = 40

/** The platform on embedded services, with one agent that may do what the bench measures. */
export const openStage = async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'espalier-bench-'))
  setLogSink(() => {})
  const { name } = tool
  tools[name] = async () => ({ tool })
  // What the sweeper does by the clock would be counted as well, at some time or other.
  const table = { ...(await routeTable()), schedules: [] }
  const meter = meterOf(new Map(table.functions.map(({ module, memoryMb }) => [module, memoryMb])))
  const load: StackOptions['load'] = meter.wrap(async module =>
    module === `tools/${name}` ? { handler: serve(tool) } : loadFunction(module),
  )
  const stack = await startStack({ table, load, directory })
  const requests = watchRequests()
  const { api } = createClient(stack.url, stack.newKey ?? '')
  const { agents, tasks, 'tool-calls': toolCalls } = api.v1
  const model = { provider: 'rehearsal', name: 'script' } as const
  const agent = await dataOf(agents.$post({ json: { name: 'Bench', model, max_steps: MAX_STEPS } }))
  await dataOf(agents[':id'].tools[':tool'].enable.$post({ param: { id: agent.id, tool: name } }))

  const used = (): Used => {
    const { dynamodb, s3Requests, stateTransitions, invocations } = stack.costs()
    const byCommand = requests.sent()
    return {
      requests: Object.values(byCommand).reduce((sum, count) => sum + count, 0),
      waitedMs: requests.waitedMs(),
      readUnits: dynamodb.readUnits,
      writeUnits: dynamodb.writeUnits,
      stateTransitions,
      invocations,
      gbSeconds: meter.gbSeconds(),
      s3Requests,
      byCommand,
    }
  }

  /** Returns once nothing runs and nothing is asked any more. */
  const quiet = async (): Promise<void> => {
    let seen = ''
    for (let looks = 0; looks < LOOKS; looks++) {
      await sleep(POLL_MS)
      const now = JSON.stringify([used(), stack.running()])
      if (now !== seen || stack.running() > 0) looks = 0
      seen = now
    }
  }

  const until = async (taskId: string, ...statuses: string[]): Promise<void> => {
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; ) {
      const { status = 'QUEUED', error } = await look(taskId)
      if (statuses.includes(status)) return
      if (status === 'FAILED') throw new Error(`${taskId} failed: ${error?.message}`)
      await sleep(POLL_MS)
    }
    throw new Error(`${taskId} did not become ${statuses}.`)
  }

  return {
    quiet,
    until,
    used,
    conflicts: requests.conflicts,
    /** What `work` uses, and all that goes on because of it. */
    using: async (work: () => Promise<unknown>): Promise<Used> => {
      await quiet()
      const before = used()
      await work()
      await quiet()
      return less(used(), before)
    },
    /** How long a task that has ended took, in milliseconds. */
    lifeMs: async (taskId: string): Promise<number> => {
      const { createdAt = '', endedAt = '' } = await look(taskId)
      return Date.parse(endedAt) - Date.parse(createdAt)
    },
    start: async (...steps: string[]): Promise<Id<'task'>> => {
      const json = { agent_id: agent.id, prompt: steps.join('\n\n') }
      return (await dataOf(tasks.$post({ json }))).id as Id<'task'>
    },
    callOf: async (id: string) => dataOf(toolCalls[':id'].$get({ param: { id } })),
    approve: async (id: string, digest: string): Promise<unknown> =>
      dataOf(toolCalls[':id'].approve.$post({ param: { id }, json: { digest } })),
    close: async (): Promise<void> => {
      await stack.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** A task's row, asked in a way that counts nowhere: who looks often would measure himself. */
const look = async (taskId: string): Promise<Partial<Task>> => {
  const input = {
    TableName: config('table'),
    Key: marshall(taskKey(taskId as Id<'task'>)),
    ConsistentRead: true,
    [BY_BENCH]: true,
  }
  const { Item } = await getItem(input)
  return Item ? unmarshall(Item) : {}
}

/** Adds up what Lambda would bill for the time that handlers take. */
const meterOf = (memoryMb: Map<string, number>) => {
  let total = 0
  const wrap =
    (load: StackOptions['load']): StackOptions['load'] =>
    async module => {
      const { handler } = await load(module)
      const gb = (memoryMb.get(module) ?? 0) / 1_024
      return {
        handler: async (event, context) => {
          const started = performance.now()
          try {
            return await handler(event, context)
          } finally {
            // Billed by the whole millisecond.
            total += (gb * Math.ceil(performance.now() - started)) / 1_000
          }
        },
      }
    }
  return { wrap, gbSeconds: () => total }
}
