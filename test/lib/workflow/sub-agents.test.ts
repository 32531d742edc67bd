import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Id } from '../../../lib/core/ids.ts'
import { MAX_DEPTH } from '../../../lib/task/create.ts'
import { getLedger } from '../../../lib/task/ledger.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { setting } from '../../../lib/tool/setting.ts'
import { ask } from '../../probe.ts'
import { useWorld, world } from '../../use-world.ts'
import { type Person, type TaskView, until } from '../../world.ts'
import { line, mayAsk, mayStillAsk } from './sub-agent.ts'

let release = () => {}
let held = 0
const probe = defineTool({
  name: 'probe',
  description: 'Waits for the test, or is not there.',
  settings: { key: setting.text({ label: 'Key' }) },
  operations: {
    hold: {
      description: 'Wait for the test.',
      parameters: z.object({}),
      effect: 'read',
      describe: () => 'Wait',
      execute: () =>
        new Promise(resolve => {
          held += 1
          release = () => resolve('held')
        }),
    },
    ask,
  },
})

useWorld([probe])

let boss: Id<'agent'>
let helper: Id<'agent'>
let stranger: Person
let foreign: Id<'agent'>

beforeAll(async () => {
  helper = await world.createAgent(['calculator', 'probe', 'sub_agent'], { name: 'Helper' })
  boss = await world.createAgent(['calculator', 'probe', 'sub_agent'], { name: 'Boss' })
  stranger = await world.createPerson()
  foreign = await world.createAgent([], { key: stranger.key })
  await mayAsk(boss, helper, boss)
  await mayAsk(helper, boss, helper)
})

const calculate = (expression: string) => `/calculator calculate ${JSON.stringify({ expression })}`

const childrenOf = (task: TaskView): string[] =>
  task.tool_calls.flatMap(
    call =>
      (call.result?.data as { spawned_sub_task_ids?: string[] } | null)?.spawned_sub_task_ids ?? [],
  )

const answers = async (taskId: string) =>
  (await world.history(taskId)).filter(({ role }) => role === 'tool').map(({ text }) => text)

describe('a task that asks other agents', () => {
  it('goes on once with what each of two children said, in the order of its calls', async () => {
    const id = await world.createTask(
      boss,
      line('sub_agent', helper, calculate('1 + 1')),
      line('sub_agent', helper, calculate('20 + 20')),
    )
    const task = await world.untilTask(id, 'COMPLETED')
    const [first, second] = await answers(id)
    expect(first).toContain('calculate: 2')
    expect(second).toContain('calculate: 40')
    expect(childrenOf(task)).toHaveLength(2)
    expect(task).toMatchObject({ spawned_sub_task_ids: childrenOf(task) })
    // Two steps of its own and two of each child: nothing was asked of a model twice.
    expect(task.usage.steps).toBe(6)
  })

  it('hears of a child that failed, and completes', async () => {
    const broken = await world.createAgent([], {
      name: 'Broken',
      model: { provider: 'openai', name: 'gpt-5' },
    })
    await world.setSettings(boss, 'sub_agent', { allowed_target_agents: [helper, broken] })
    const id = await world.createTask(boss, line('sub_agent', broken, 'Do it.'))
    await world.untilTask(id, 'COMPLETED')
    const [row] = (await world.history(id)).filter(({ role }) => role === 'tool')
    expect(row).toMatchObject({ is_error: true })
    expect(row?.text).toMatch(/ended as FAILED: There is no key/)
  })

  it('hears of a child that a person cancelled, and completes', async () => {
    const id = await world.createTask(boss, line('sub_agent', helper, '/probe ask {}'))
    const [approval] = await world.untilApproval(id)
    await world.untilTask(id, 'AWAITING_SUB_AGENTS')
    await world.request('POST', `/api/v1/tasks/${approval.task_id}/cancel`)
    await world.untilTask(id, 'COMPLETED')
    expect((await answers(id))[0]).toContain(`${approval.task_id} ended as CANCELLED`)
  })

  it('waits for the slower of two children, one of which has ended', async () => {
    const id = await world.createTask(
      boss,
      line('sub_agent', helper, calculate('2 * 3')),
      line('sub_agent', helper, '/probe ask {}'),
    )
    const [approval] = await world.untilApproval(id)
    await world.untilTask(id, 'AWAITING_SUB_AGENTS')
    await world.decide(approval, 'reject', { reason: 'No.' })
    await world.untilTask(id, 'COMPLETED')
    const [first, second] = await answers(id)
    expect(first).toContain('6')
    expect(second).toContain('Action rejected by user: No.')
  })

  it('shows a grandchild’s approval in the one list, and gets its answer', async () => {
    const id = await world.createTask(
      boss,
      line('sub_agent', helper, line('sub_agent', boss, '/probe ask {}')),
    )
    const [approval] = await world.untilApproval(id)
    await world.decide(approval, 'approve')
    await world.untilTask(id, 'COMPLETED')
    expect((await answers(id))[0]).toContain('asked')
  })

  it(`nests ${MAX_DEPTH} deep and no deeper`, async () => {
    const nested = (depth: number): string =>
      depth === 0
        ? calculate('7 * 6')
        : line('sub_agent', depth % 2 === 0 ? boss : helper, nested(depth - 1))
    await world.setSettings(boss, 'sub_agent', { allowed_target_agents: [helper] })
    const asks = async (depth: number) => {
      const id = await world.createTask(depth % 2 === 0 ? helper : boss, nested(depth))
      await world.untilTask(id, 'COMPLETED')
      return (await answers(id))[0]
    }
    expect(await asks(MAX_DEPTH)).toContain('42')
    expect(await asks(MAX_DEPTH + 1)).toContain('nest at most 3 deep')
  })

  it.each([
    ['itself', () => boss, 'can not ask itself'],
    ['an agent of another owner', () => foreign, 'of the same owner'],
    ['an agent that there isn’t', () => `agent_${'0'.repeat(26)}`, 'of the same owner'],
    ['an agent that it may not ask', () => helper, 'must be of those under'],
    ['what is no agent', () => 'user_x', 'target_agent_id'],
  ])('is refused %s, and starts nothing', async (_, target, why) => {
    await mayStillAsk(boss, boss, foreign, `agent_${'0'.repeat(26)}`)
    const id = await world.createTask(boss, line('sub_agent', target(), 'Do it.'))
    const task = await world.untilTask(id, 'COMPLETED')
    expect((await answers(id))[0]).toContain(why)
    expect(childrenOf(task)).toEqual([])
    expect(task.usage.steps).toBe(2)
  })

  it('need not say which operation it means where only one is enabled', async () => {
    const single = await world.createAgent(['sub_agent'], { name: 'Single' })
    await mayAsk(single, helper)
    await world.override(single, 'sub_agent.handover', { enabled: false })
    const values = JSON.stringify({ target_agent_id: helper, prompt: calculate('4 + 4') })
    const id = await world.createTask(single, `/sub_agent ${values}`)
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.tool_calls[0]).toMatchObject({ operation: 'sub_agent', status: 'COMPLETED' })
    expect((await answers(id))[0]).toContain('8')
  })

  it('can not be asked outside of tasks', async () => {
    await mayAsk(boss, helper)
    const body = { target_agent_id: helper, prompt: 'x' }
    const answer = await world.run(boss, 'sub_agent.sub_agent', body)
    expect(answer.body.data).toMatchObject({
      status: 'FAILED',
      content: expect.stringContaining('Only a task'),
    })
  })
})

describe('a task that hands over', () => {
  beforeAll(() => world.setSettings(boss, 'sub_agent', { allowed_target_agents: [helper] }))

  it('completes at once, and the other agent goes on in its place', async () => {
    const id = await world.createTask(boss, line('handover', helper, calculate('3 * 3')))
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.final_response).toBe('Handed off to Helper.')
    expect(task.handover).toMatchObject({
      target_agent_id: helper,
      target_agent_name: 'Helper',
    })
    const successor = await world.untilTask(task.handover?.target_task_id ?? '', 'COMPLETED')
    expect(successor.final_response).toContain('9')
    expect(successor).toMatchObject({ parent_task_id: null, root_task_id: id })
  })

  it('as a child passes its parent on: the parent reads what the successor said', async () => {
    await world.setSettings(helper, 'sub_agent', { allowed_target_agents: [boss] })
    const id = await world.createTask(
      boss,
      line('sub_agent', helper, line('handover', boss, '/probe ask {}')),
    )
    const [approval] = await world.untilApproval(id)
    expect((await world.getTask(id)).status).toBe('AWAITING_SUB_AGENTS')
    await world.decide(approval, 'approve')
    const task = await world.untilTask(id, 'COMPLETED')
    const [answer] = await answers(id)
    expect(answer).toContain('asked')
    expect(answer).not.toContain('Handed off')
    expect((await world.getTask(approval.task_id ?? '')).parent_task_id).toBe(id)
    expect(childrenOf(task)).not.toContain(approval.task_id)
  })
})

describe('a task that is cancelled', () => {
  it('takes all below it along; nothing waits for approval, and no model is asked after it', async () => {
    await world.setSettings(boss, 'sub_agent', { allowed_target_agents: [helper] })
    await world.setSettings(helper, 'sub_agent', { allowed_target_agents: [boss] })
    const id = await world.createTask(
      boss,
      line('sub_agent', helper, line('sub_agent', boss, '/probe ask {}')),
      line('sub_agent', helper, '/probe ask {}'),
    )
    const approvals = await world.untilApproval(id, 2)
    await world.untilTask(id, 'AWAITING_SUB_AGENTS')
    const cancelled = await world.request('POST', `/api/v1/tasks/${id}/cancel`)
    const steps = (await getLedger(id))?.steps
    // The task, two children and a grandchild.
    expect(cancelled.body.data).toMatchObject({ status: 'CANCELLED', used: { tasks: 4, steps } })
    for (const { id: callId, task_id } of approvals) {
      expect((await world.getTask(task_id ?? '')).status).toBe('CANCELLED')
      expect((await world.getCall(callId)).status).toBe('EXPIRED')
      const answer = await world.decide(await world.getCall(callId), 'approve')
      expect(answer.status).toBe(409)
    }
    expect(await world.approvals()).toEqual([])
    // Not one execution waits on for nothing.
    await until('all executions have ended', async () => world.waiting() === 0 || undefined)
    expect((await getLedger(id))?.steps).toBe(steps)
    const again = await world.request('POST', `/api/v1/tasks/${id}/cancel`)
    expect(again.body.data).toMatchObject({ status: 'CANCELLED' })
  })

  it('while an operation runs asks no model with its result, and calls nothing more', async () => {
    held = 0
    const id = await world.createTask(boss, '/probe hold {}\n/probe ask {}')
    await until('the operation runs', async () => held || undefined)
    const steps = (await getLedger(id))?.steps
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
    release()
    await until('all has ended', async () => world.running() === 0 || undefined)
    const task = await world.getTask(id)
    expect(task.status).toBe('CANCELLED')
    expect(task.tool_calls.map(({ status }) => status)).toEqual(['COMPLETED', 'EXPIRED'])
    expect(await world.approvals()).toEqual([])
    expect((await getLedger(id))?.steps).toBe(steps)
  })

  it('stays what it was where it had ended before', async () => {
    const id = await world.createTask(boss, 'Hello')
    await world.untilTask(id, 'COMPLETED')
    const answer = await world.request('POST', `/api/v1/tasks/${id}/cancel`)
    expect(answer.body.data).toMatchObject({ status: 'COMPLETED' })
  })
})
