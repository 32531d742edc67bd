import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import type { Id } from '../../../lib/core/ids.ts'
import { useWorld, world } from '../../use-world.ts'

useWorld()

let boss: Id<'agent'>
let helper: Id<'agent'>
let requests = 0

beforeAll(async () => {
  helper = await world.createAgent([], { name: 'Helper' })
  boss = await world.createAgent(['subagents'], { name: 'Boss' })
  await world.override(boss, 'subagents.spawn_subagents', { requires_approval: false })
  dynamodb().middlewareStack.add(
    next => async args => {
      requests += 1
      return next(args)
    },
    { step: 'initialize', name: 'count' },
  )
})

/** Requests that a task with so many children makes of DynamoDB, all together, for each of them. */
const requestsPerChild = async (children: number, maxConcurrent: number): Promise<number> => {
  await world.setSettings(boss, 'subagents', {
    allowed_target_agents: [helper],
    max_concurrent: maxConcurrent,
  })
  const subagents = Array.from({ length: children }, () => ({
    target_agent_id: helper,
    prompt: 'Hello',
  }))
  requests = 0
  const id = await world.createTask(
    boss,
    `/subagents spawn_subagents ${JSON.stringify({ subagents, wait: true })}`,
  )
  // Looking would count as well.
  while (world.running() > 0 || world.waiting() > 0) await sleep(20)
  const made = requests
  expect((await world.getTask(id)).status).toBe('COMPLETED')
  return made / children
}

it.each([
  ['each in a slot of its own', 64],
  ['four at a time', 4],
])(
  '32 sub-agents, %s, make no more requests each than 8 do',
  async (_, maxConcurrent) => {
    await requestsPerChild(1, maxConcurrent)
    const few = await requestsPerChild(8, maxConcurrent)
    const many = await requestsPerChild(32, maxConcurrent)
    expect(many).toBeLessThan(few * 1.25)
  },
  90_000,
)
