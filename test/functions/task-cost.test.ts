import { setTimeout as sleep } from 'node:timers/promises'
import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { getAgent } from '../../lib/agent/agent.ts'
import { callIdAt } from '../../lib/call/tool-call.ts'
import { config } from '../../lib/core/config.ts'
import { type Id, newId } from '../../lib/core/ids.ts'
import { currentUsage } from '../../lib/data/usage.ts'
import { taskKey } from '../../lib/task/task.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { result } from '../../lib/tool/result.ts'
import { spawnChildren } from '../../lib/workflow/spawn.ts'
import { ask } from '../probe.ts'
import { dynamodb } from '../sdk.ts'
import { agent, useAgent, world } from '../use-world.ts'
import { until } from '../world.ts'

/** Children that are held, each until the test lets it go on. */
const held: (() => void)[] = []

const probe = defineTool({
  name: 'probe',
  description: 'Answers, asks, waits for the test, or spawns.',
  operations: {
    read: {
      description: 'Answer.',
      parameters: z.object({ number: z.int() }),
      effect: 'read',
      describe: () => 'Answer',
      execute: ({ parameters: { number } }) => `The answer is ${number}.`,
    },
    ask: { ...ask, effect: 'read' },
    hold: {
      description: 'Wait for the test.',
      parameters: z.object({}),
      effect: 'read',
      describe: () => 'Wait',
      execute: () => new Promise<string>(resolve => held.push(() => resolve('held'))),
    },
    spawn: {
      description: 'Spawn children that wait for the test.',
      parameters: z.object({ count: z.int() }),
      effect: 'idempotent',
      describe: () => 'Spawn',
      execute: async ({ parameters: { count }, call, agent, task, clock }) => {
        const work = { agent: await getAgent(agent.id), prompt: '/probe hold {}' }
        const source = { sourceId: task?.id as Id<'task'>, callId: call.id }
        const works = Array.from({ length: count }, () => work)
        const terms = { spawn: { awaited: true, attention: true } }
        const children = await spawnChildren(source, works, terms, clock)
        return result({ content: 'Spawned.', children: children.map(({ id }) => id) })
      },
    },
  },
})

useAgent(['probe'], [probe])

/** How often in a row, and after how long, all must be seen to rest. */
const LOOKS = 15
const POLL_MS = 10
/** A held child's tick, and the operation that it waits for. */
const RUNNING_PER_HELD = 2

type Cost = { requests: number; stateTransitions: number }

const costNow = (): Cost => ({
  requests: currentUsage().requests,
  stateTransitions: world.costs().stateTransitions,
})

/** Waits until nothing is asked of anything any more, in a way that asks nothing itself. */
const quiet = async (): Promise<Cost> => {
  let seen = costNow()
  for (let looks = 0; looks < LOOKS; looks++) {
    await sleep(POLL_MS)
    const now = costNow()
    const rests = now.requests === seen.requests && now.stateTransitions === seen.stateTransitions
    if (!rests || world.running() > held.length * RUNNING_PER_HELD) looks = 0
    seen = now
  }
  return seen
}

/** Waits for a task in a way that is not counted: it goes past the module that counts. */
const untilIs = (id: string, status: string): Promise<true> =>
  until(`${id} is ${status}`, async () => {
    const key = taskKey(id as Id<'task'>)
    const { Item } = await dynamodb().send(
      new GetItemCommand({ TableName: config('table'), Key: marshall(key), ConsistentRead: true }),
    )
    return Item?.status?.S === status || undefined
  })

/** What `work` costs, with all that goes on because of it. */
const costOf = async (work: () => Promise<unknown>): Promise<Cost> => {
  const before = await quiet()
  await work()
  return difference(await quiet(), before)
}

const difference = (more: Cost, than: Cost): Cost => ({
  requests: more.requests - than.requests,
  stateTransitions: more.stateTransitions - than.stateTransitions,
})

const taskOf = (steps: number): Promise<Cost> =>
  costOf(async () => {
    const lines = Array.from(
      { length: steps },
      (_, number) => `/probe read {"number": ${number}}\n`,
    )
    await untilIs(await world.createTask(agent, ...lines), 'COMPLETED')
  })

describe('a task', () => {
  beforeAll(async () => {
    // What is read once in a process is no task's own.
    await taskOf(1)
  })

  /**
   * The ledger before and after the model's request, its answer in the history; what the step has of
   * calls, the gate's rows, the call's record; in the operation's function the record, the gate's
   * rows, its start, its result; and the record once more.
   */
  const STEP = 11

  it('makes eleven requests to DynamoDB for a step more with its call, and no state transition', async () => {
    const [two, four] = [await taskOf(2), await taskOf(4)]
    expect(difference(four, two)).toEqual({ requests: 2 * STEP, stateTransitions: 0 })
  })

  it('makes sixteen for an approval, its HTTP request among them, and three transitions', async () => {
    const plain = await taskOf(1)
    const { principalId } = await getAgent(agent)
    // A key that names its user, as those that the API makes do; its first use is written down.
    const { key } = await world.createUserKey(principalId as Id<'user'>, ['decide'])
    await world.request('GET', `/api/v1/agents/${agent}`, { key })
    let id = newId('task')
    const asking = await costOf(async () => {
      id = await world.createTask(agent, '/probe ask {}')
      await untilIs(id, 'PENDING_APPROVAL')
    })
    expect(world.waiting()).toBe(1)
    const call = await world.getCall(callIdAt(id, 1, 0))
    const goingOn = await costOf(async () => {
      const { status } = await world.decide(call, 'approve', {}, key)
      expect(status).toBe(200)
      await untilIs(id, 'COMPLETED')
    })
    expect({
      requests: asking.requests + goingOn.requests - plain.requests,
      stateTransitions: asking.stateTransitions + goingOn.stateTransitions - plain.stateTransitions,
    }).toEqual({ requests: 16, stateTransitions: 3 })
  })

  it('makes fourteen and three for a child beside its steps, however many siblings it has', async () => {
    const family = (count: number): Promise<Cost> =>
      costOf(async () => {
        const id = await world.createTask(agent, `/probe spawn {"count": ${count}}`)
        await until('all children are held', async () => held.length === count || undefined)
        await untilIs(id, 'AWAITING_SUB_AGENTS')
        // One after the other: of two that end at once, both might see that none is left.
        while (held.length > 0) {
          await quiet()
          held.shift()?.()
        }
        await untilIs(id, 'COMPLETED')
      })
    const few = await family(2)
    const more = await family(8)
    expect(difference(more, few)).toEqual({
      requests: 6 * (14 + STEP),
      stateTransitions: 6 * 3,
    })
  })
})
