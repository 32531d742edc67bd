import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Id } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { listEvents } from '../../../lib/task/event.ts'
import { getTasks } from '../../../lib/task/task.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { spawnedId } from '../../../lib/workflow/spawn.ts'
import { ask } from '../../probe.ts'
import { useWorld, world } from '../../use-world.ts'
import { until } from '../../world.ts'

const gates = new Map<string, () => void>()
let running = 0
let most = 0
const probe = defineTool({
  name: 'probe',
  description: 'Waits for the test, or a moment.',
  operations: {
    hold: {
      description: 'Wait for the test.',
      parameters: z.object({ name: z.string() }),
      effect: 'read',
      describe: () => 'Wait',
      execute: ({ parameters: { name } }) =>
        new Promise(resolve => gates.set(name, () => resolve(name))),
    },
    pass: {
      description: 'Take a moment.',
      parameters: z.object({}),
      effect: 'read',
      describe: () => 'Pass',
      execute: async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise(resolve => setTimeout(resolve, 20))
        running -= 1
        return 'passed'
      },
    },
    ask,
  },
})

useWorld([probe])

let boss: Id<'agent'>
let helper: Id<'agent'>

beforeAll(async () => {
  helper = await world.createAgent(['probe'], { name: 'Helper' })
  boss = await world.createAgent(['subagents'], { name: 'Boss' })
  await world.override(boss, 'subagents.spawn_subagents', { requires_approval: false })
})

const allow = (maxConcurrent: number) =>
  world.setSettings(boss, 'subagents', {
    allowed_target_agents: [helper],
    max_concurrent: maxConcurrent,
  })
const spawnAll = (prompts: string[], fields: object = {}) =>
  `/subagents spawn_subagents ${JSON.stringify({ subagents: prompts.map(prompt => ({ target_agent_id: helper, prompt })), ...fields })}`
const childrenOf = async (id: string, count: number): Promise<Id<'task'>[]> => {
  const call = await until('they were asked for', async () => {
    const [first] = (await world.getTask(id)).tool_calls
    return first?.result ? first.id : undefined
  })
  return Array.from({ length: count }, (_, index) => spawnedId(call as Id<'call'>, index))
}
const statuses = async (ids: Id<'task'>[]) => (await getTasks(ids)).map(({ status }) => status)

describe('sub-agents of an agent that may have two at once', () => {
  beforeAll(() => allow(2))

  it('run two at a time; the others are QUEUED, say why, and take their turns', async () => {
    const names = ['a', 'b', 'c', 'd']
    const prompts = names.map(name => `/probe hold ${JSON.stringify({ name })}`)
    const id = await world.createTask(boss, spawnAll(prompts, { wait: true }))
    const children = await childrenOf(id, 4)
    await until('two are held', async () => gates.size === 2 || undefined)
    const [third] = await until('two are queued', async () => {
      const queued = (await getTasks(children)).filter(({ slotAskedAt }) => slotAskedAt)
      return queued.length === 2 ? queued : undefined
    })
    if (!third) throw new Error('Two are queued.')
    expect(await world.getTask(third.id)).toMatchObject({
      waits_for_slot_since: expect.stringMatching(/^20/),
    })
    expect((await statuses(children)).sort()).toEqual(['QUEUED', 'QUEUED', 'RUNNING', 'RUNNING'])
    expect((await listEvents(third.id)).at(-1)).toMatchObject({
      type: 'waiting',
      status: 'QUEUED',
      detail: '2 sub-agents of the agent that asked for it run already.',
    })
    while (names.length > 0) {
      const [name, open] = await until('one is held', async () => [...gates][0])
      expect(gates.size).toBeLessThanOrEqual(2)
      gates.delete(name)
      names.splice(names.indexOf(name), 1)
      open()
    }
    await world.untilTask(id, 'COMPLETED')
    expect(new Set(await statuses(children))).toEqual(new Set(['COMPLETED']))
    expect(await table.queryAll(z.object({}), { pk: `slots#${boss}` })).toEqual([])
  })

  it('hold no slot while they wait for a person', async () => {
    const id = await world.createTask(
      boss,
      spawnAll(['/probe ask {}', '/probe ask {}', '/probe ask {}', '/probe pass {}'], {
        wait: true,
      }),
    )
    const approvals = await world.untilApproval(id, 3)
    const [, , , fourth] = await childrenOf(id, 4)
    await world.untilTask(fourth ?? '', 'COMPLETED')
    for (const approval of approvals) await world.decide(approval, 'approve')
    await world.untilTask(id, 'COMPLETED')
  })

  it('are cancelled with their task, in the queue as well', async () => {
    const prompts = ['x', 'y', 'z'].map(name => `/probe hold ${JSON.stringify({ name })}`)
    const id = await world.createTask(boss, spawnAll(prompts))
    const children = await childrenOf(id, 3)
    await until('two are held', async () => gates.size === 2 || undefined)
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
    expect(new Set(await statuses(children))).toEqual(new Set(['CANCELLED']))
    for (const open of gates.values()) open()
    gates.clear()
    await until('all has ended', async () => world.running() === 0 || undefined)
    // Their slots are there for others.
    const next = await world.createTask(boss, spawnAll(['/probe pass {}'], { wait: true }))
    await world.untilTask(next, 'COMPLETED')
  })
})

describe('64 sub-agents at once', () => {
  it('wake their task once, and never run more at a time than they may', async () => {
    await allow(8)
    most = 0
    const prompts = Array.from({ length: 64 }, () => '/probe pass {}')
    const id = await world.createTask(boss, spawnAll(prompts, { wait: true }))
    await until('all have ended', async () => {
      const { status } = await world.getTask(id)
      return status === 'COMPLETED' ? true : undefined
    }).catch(async () => world.untilTask(id, 'COMPLETED'))
    const children = await childrenOf(id, 64)
    expect(new Set(await statuses(children))).toEqual(new Set(['COMPLETED']))
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(8)
    const [parent] = await getTasks([id])
    // One for its last child; one more where they ended before it had begun to wait.
    expect(parent?.wakeSeq).toBeLessThanOrEqual(2)
    const answer = (await world.history(id)).find(({ role }) => role === 'tool')?.text ?? ''
    expect(JSON.parse(answer).subagents).toHaveLength(64)
  }, 120_000)
})
