import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { derivedId, type Id } from '../../../lib/core/ids.ts'
import { getLedger } from '../../../lib/task/ledger.ts'
import { listMarkers } from '../../../lib/task/open-children.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { spawnedId } from '../../../lib/workflow/spawn.ts'
import { ask } from '../../probe.ts'
import { useWorld, world } from '../../use-world.ts'
import { type TaskView, until } from '../../world.ts'

const gates = new Map<string, (value: string) => void>()
const probe = defineTool({
  name: 'probe',
  description: 'Waits for the test, or is not there.',
  operations: {
    hold: {
      description: 'Wait for the test.',
      parameters: z.object({ name: z.string() }),
      effect: 'read',
      describe: () => 'Wait',
      execute: ({ parameters: { name } }) => new Promise(resolve => gates.set(name, resolve)),
    },
    ask,
  },
})

useWorld([probe])

let boss: Id<'agent'>
let helper: Id<'agent'>

beforeAll(async () => {
  helper = await world.createAgent(['calculator', 'probe', 'media', 'subagents', 'sub_agent'], {
    name: 'Helper',
  })
  boss = await world.createAgent(['calculator', 'probe', 'subagents'], { name: 'Boss' })
  for (const [agent, target] of [
    [boss, helper],
    [helper, boss],
  ]) {
    await world.setSettings(agent ?? '', 'subagents', { allowed_target_agents: [target] })
    for (const operation of ['spawn_subagent', 'spawn_subagents'])
      await world.override(agent ?? '', `subagents.${operation}`, { requires_approval: false })
  }
})

const calculate = (expression: string) => `/calculator calculate ${JSON.stringify({ expression })}`
const hold = (name: string) => `/probe hold ${JSON.stringify({ name })}`
const open = async (name: string, value = `held ${name}`) => {
  const gate = await until(`${name} is held`, async () => gates.get(name))
  gates.delete(name)
  gate(value)
}
const spawn = (prompt: string | string[], fields: object = {}, target: string = helper) =>
  `/subagents spawn_subagent ${JSON.stringify({ target_agent_id: target, prompt: [prompt].flat().join('\n'), ...fields })}`
const spawnAll = (prompts: string[], fields: object = {}) =>
  `/subagents spawn_subagents ${JSON.stringify({ subagents: prompts.map(prompt => ({ target_agent_id: helper, prompt })), ...fields })}`
const use = (operation: string, fields: object = {}) =>
  `/subagents ${operation} ${JSON.stringify(fields)}`

const rows = async (taskId: string, role: string) =>
  (await world.history(taskId)).filter(row => row.role === role).map(({ text }) => text)
const answers = async (taskId: string) =>
  (await rows(taskId, 'tool')).map(text => {
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  })
const attentions = async (taskId: string) =>
  (await rows(taskId, 'user')).filter(text => text.startsWith('[subagent attention]'))
const childOf = (task: TaskView, call = 0) => derivedId('task', task.tool_calls[call]?.id ?? '')

describe('a sub-agent that is waited for', () => {
  it('answers the call with what the platform knows of it', async () => {
    const document = JSON.stringify({ filename: 'a.md', content: '# A' })
    const id = await world.createTask(
      boss,
      spawn(`/media create_media ${document}`, { wait: true }),
    )
    const task = await world.untilTask(id, 'COMPLETED')
    const [answer] = await answers(id)
    expect(answer).toMatchObject({
      state: 'done',
      subagents: [
        {
          task_id: childOf(task),
          agent_id: helper,
          state: 'done',
          outcome: 'completed',
          tool_calls: 1,
          rounds: 2,
          media: [expect.stringMatching(/^media_/)],
          text: expect.stringContaining('a.md'),
        },
      ],
    })
    expect(await attentions(id)).toEqual([])
    expect(task.tool_calls[0]?.result?.data).toMatchObject({
      spawned_sub_task_ids: [childOf(task)],
    })
  })

  it('is no longer waited for once its time is up; it goes on, and the task hears of it', async () => {
    const id = await world.createTask(
      boss,
      spawn(hold('late'), { wait: true, wait_seconds: 1 }),
      calculate('1 + 1'),
      '',
      calculate('2 + 2'),
    )
    await until('the call was answered', async () => (await answers(id)).length === 3 || undefined)
    const task = await world.getTask(id)
    const [first] = await answers(id)
    expect(first).toMatchObject({ state: 'pending', pending_task_ids: [childOf(task)] })
    // The model has come to its end, and the task waits for what runs beside it.
    await world.untilTask(id, 'AWAITING_SUB_AGENTS')
    await open('late')
    await world.untilTask(id, 'COMPLETED')
    const [told, ...more] = await attentions(id)
    expect(told).toContain(`${childOf(task)} of ${helper}: completed; 1 tool calls; 2 rounds`)
    expect(more).toEqual([])
  })

  it('with others of one call is waited for together with them, and not with those of another', async () => {
    const id = await world.createTask(
      boss,
      spawnAll([calculate('1 + 1'), calculate('20 + 20')], { wait: true }),
    )
    await world.untilTask(id, 'COMPLETED')
    const [answer] = await answers(id)
    expect(answer.subagents.map(({ text }: { text: string }) => text)).toEqual([
      expect.stringContaining('2'),
      expect.stringContaining('40'),
    ])
  })
})

describe('a sub-agent that runs beside its task', () => {
  it('lets the task go on at once, and wakes it at its end, once', async () => {
    const id = await world.createTask(boss, spawn(hold('beside')), calculate('3 * 3'))
    await world.untilTask(id, 'AWAITING_SUB_AGENTS')
    const [started, product] = await answers(id)
    const child = childOf(await world.getTask(id))
    expect(started).toEqual({ state: 'started', task_ids: [child] })
    expect(JSON.stringify(product)).toContain('9')
    await open('beside')
    await world.untilTask(id, 'COMPLETED')
    expect(await attentions(id)).toHaveLength(1)
    const row = (await world.history(id)).find(({ text }) => text.startsWith('[subagent'))
    expect(row).toMatchObject({ role: 'user', origin: 'platform', attention: [child] })
  })

  it('is told of before the next model request where the model still goes on', async () => {
    const id = await world.createTask(boss, spawn(calculate('1 + 2')), '', hold('step'))
    const child = childOf(
      await until('it has started', async () => {
        const task = await world.getTask(id)
        return task.tool_calls.length > 1 ? task : undefined
      }),
    )
    await world.untilTask(child, 'COMPLETED')
    await open('step')
    await world.untilTask(id, 'COMPLETED')
    const roles = (await world.history(id)).map(({ role }) => role)
    expect(roles).toEqual([
      ...['user', 'assistant', 'tool'],
      ...['assistant', 'tool', 'user', 'assistant'],
    ])
  })

  it('is not told of where its result was fetched', async () => {
    const id = await world.createTask(
      boss,
      spawn(calculate('6 * 7')),
      '',
      use('subagent_result', { task_id: '{{1.task_ids.0}}', wait: true }),
      '',
      use('subagent_list'),
    )
    await world.untilTask(id, 'COMPLETED')
    const [, result, list] = await answers(id)
    const report = result.subagents?.[0] ?? result
    expect(report).toMatchObject({ outcome: 'completed', text: expect.stringContaining('42') })
    expect(list).toMatchObject({ total: 1, subagents: [{ state: 'done', outcome: 'completed' }] })
    expect(await attentions(id)).toEqual([])
  })

  it('without attention holds nothing up and is not told of; cancelling the ended task reaches it', async () => {
    const id = await world.createTask(boss, spawn('/probe ask {}', { attention: false }))
    const task = await world.untilTask(id, 'COMPLETED')
    const child = childOf(task)
    await world.untilTask(child, 'PENDING_APPROVAL')
    expect(await attentions(id)).toEqual([])
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
    expect((await world.getTask(child)).status).toBe('CANCELLED')
  })

  it('is told of as degraded where a limit ended it before it said a word', async () => {
    const hasty = await world.createAgent(['calculator'], { name: 'Hasty', max_steps: 1 })
    await world.setSettings(boss, 'subagents', { allowed_target_agents: [helper, hasty] })
    const id = await world.createTask(boss, spawn(calculate('1 + 1'), { wait: true }, hasty))
    await world.untilTask(id, 'COMPLETED')
    const [answer] = await answers(id)
    expect(answer.subagents[0]).toMatchObject({
      status: 'FAILED',
      outcome: 'degraded',
      outcome_reason: expect.stringContaining('MAX_STEPS'),
      tool_calls: 1,
      rounds: 1,
    })
  })

  it('that hands over goes on as the one that it became', async () => {
    await world.override(helper, 'sub_agent.handover', { requires_approval: false })
    const heir = await world.createAgent(['calculator'], { name: 'Heir' })
    await world.setSettings(helper, 'sub_agent', { allowed_target_agents: [heir] })
    const values = JSON.stringify({ target_agent_id: heir, prompt: calculate('5 * 5') })
    const id = await world.createTask(boss, spawn(`/sub_agent handover ${values}`))
    const task = await world.untilTask(id, 'COMPLETED')
    const [told, ...more] = await attentions(id)
    expect(more).toEqual([])
    // Its own step and call, and the two steps and the call of the one that went on.
    expect(told).toContain(`${childOf(task)} of ${helper}: completed; 2 tool calls; 3 rounds`)
  })

  it('is cancelled with a task that fails, and no model is asked after that', async () => {
    const hurried = await world.createAgent(['subagents', 'probe'], {
      name: 'Hurried',
      max_steps: 1,
    })
    await world.setSettings(hurried, 'subagents', { allowed_target_agents: [helper] })
    await world.override(hurried, 'subagents.spawn_subagent', { requires_approval: false })
    const id = await world.createTask(hurried, spawn('/probe ask {}'))
    const task = await world.untilTask(id, 'FAILED')
    expect(task.error?.code).toBe('MAX_STEPS')
    await world.untilTask(childOf(task), 'CANCELLED')
    await until('nothing is asked for', async () => {
      const waiting = await world.approvals()
      return waiting.length === 0 ? true : undefined
    })
  })

  it('that failed is told of as such', async () => {
    const broken = await world.createAgent([], {
      name: 'Broken',
      model: { provider: 'openai', name: 'gpt-5' },
    })
    await world.setSettings(boss, 'subagents', { allowed_target_agents: [helper, broken] })
    const id = await world.createTask(boss, spawn('Do it.', {}, broken))
    await world.untilTask(id, 'COMPLETED')
    expect((await attentions(id))[0]).toMatch(/: failed; NOT_CONFIGURED; 0 tool calls; 0 rounds/)
  })
})

describe('a sub-agent that a task cancels', () => {
  it('ends with all below it, is told what that used, and is no news any more', async () => {
    const id = await world.createTask(
      boss,
      spawn(spawn('/probe ask {}', { wait: true }, boss)),
      '',
      hold('before'),
      '',
      use('subagent_cancel', { task_id: '{{1.task_ids.0}}' }),
      '',
      use('subagent_cancel', { task_id: '{{1.task_ids.0}}' }),
    )
    const [approval] = await world.untilApproval(id)
    await open('before')
    await world.untilTask(id, 'COMPLETED')
    const [, , cancelled, again] = await answers(id)
    expect(cancelled).toMatchObject({
      status: 'CANCELLED',
      had_ended: false,
      used: { tasks: 2, steps: 2 },
    })
    expect(again).toEqual({ ...cancelled, had_ended: true })
    expect((await world.getTask(approval.task_id ?? '')).status).toBe('CANCELLED')
    expect(await attentions(id)).toEqual([])
    expect(await world.approvals()).toEqual([])
    expect((await getLedger(id))?.steps).toBe(7)
  })

  it.each(['subagent_status', 'subagent_cancel', 'subagent_result'])(
    'has to be in its own tree: %s refuses others',
    async operation => {
      const other = await world.createTask(boss, 'Hello')
      const id = await world.createTask(boss, use(operation, { task_id: other }))
      await world.untilTask(id, 'COMPLETED')
      expect((await answers(id))[0]).toContain('There is no sub-agent')
    },
  )
})

describe('who waits for whom', () => {
  it('is told where a wait would close a circle, and the others go on', async () => {
    const names = ['first', 'second', 'third']
    const wait = use('subagent_result', { task_id: '{{1}}', wait: true })
    const id = await world.createTask(
      boss,
      hold('braces'),
      '',
      spawnAll(
        names.map(name => `${hold(name)}\n\n${wait}`),
        { wait: true },
      ),
    )
    // As it stands in a prompt, the boss fills it in, and what is filled in stays.
    await open('braces', '{{1}}')
    const call = await until(
      'they were asked for',
      async () => (await world.getTask(id)).tool_calls[1]?.id,
    )
    const [first, second, third] = [0, 1, 2].map(index => spawnedId(call as Id<'call'>, index))
    if (!first || !second || !third) throw new Error('There are three.')
    await open('first', second)
    await world.untilTask(first, 'AWAITING_SUB_AGENTS')
    await open('second', third)
    await world.untilTask(second, 'AWAITING_SUB_AGENTS')
    await open('third', first)
    await world.untilTask(id, 'COMPLETED')
    expect((await answers(third))[1]).toContain(
      `${third} would wait for ${first}, but ${first} waits for ${second}, and ${second} waits for ${third}.`,
    )
    for (const waiter of [first, second])
      expect((await answers(waiter))[1]).toMatchObject({
        state: 'done',
        subagents: [{ outcome: 'completed' }],
      })
    for (const child of [first, second, third]) expect(await listMarkers(child)).toEqual([])
  })

  it('may be the task that asked for it: that never ends before', async () => {
    const wait = use('subagent_result', { task_id: '{{1}}', wait: true })
    const id = await world.createTask(
      boss,
      hold('brace'),
      '',
      spawn(
        `${hold('inner')}\n\n${spawn(`${hold('innermost')}\n\n${wait}`, { wait: true }, boss)}`,
      ),
    )
    await open('brace', '{{1}}')
    const child = childOf(
      await until('it has started', async () => {
        const task = await world.getTask(id)
        return task.tool_calls.length > 1 ? task : undefined
      }),
      1,
    )
    await open('inner', '{{1}}')
    await open('innermost', child)
    const grandchild = childOf(
      await until('it has started', async () => {
        const task = await world.getTask(child)
        return task.tool_calls.length > 1 ? task : undefined
      }),
      1,
    )
    await world.untilTask(id, 'COMPLETED')
    expect((await answers(grandchild))[1]).toContain(
      `${grandchild} would wait for ${child}, but ${child} waits for ${grandchild}.`,
    )
  })
})
