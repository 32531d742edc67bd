import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type Id, newId } from '../../lib/core/ids.ts'
import * as table from '../../lib/data/table.ts'
import { getLedger } from '../../lib/task/ledger.ts'
import { getTask, Task, taskKey } from '../../lib/task/task.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { sweep } from '../../lib/workflow/sweep.ts'
import { dataOf, startWorld, type World } from '../world.ts'

const sent: string[] = []

const probe = defineTool({
  name: 'probe',
  description: 'Sends letters.',
  operations: {
    send: {
      description: 'Send a letter.',
      parameters: z.object({ text: z.string() }),
      effect: 'once',
      requiresApprovalByDefault: true,
      describe: ({ text }) => `Send "${text}"`,
      execute: async ({ parameters }) => {
        sent.push(parameters.text)
        return `Sent ${parameters.text}`
      },
    },
    look: {
      description: 'Look.',
      parameters: z.object({}),
      effect: 'read',
      describe: () => 'Look',
      execute: async () => 'Seen.',
    },
  },
})

let world: World
let agent: Id<'agent'>
beforeAll(async () => {
  world = await startWorld([probe])
  agent = await world.createAgent(['probe', 'sub_agent'])
})
afterAll(() => world.stop())

const act = (id: string, verb: string, body?: object, headers: Record<string, string> = {}) =>
  world.request('POST', `/api/v1/tasks/${id}/${verb}`, {
    ...(body ? { body } : {}),
    headers,
  })

const change = async (id: string, body: object) =>
  dataOf(
    await world.request('PATCH', `/api/v1/agents/${id}`, { body, headers: { 'if-match': '*' } }),
  )

type Event = { seq: number; type: string; status: string; by: string | null }
const eventsOf = async (id: string) =>
  dataOf<Event[]>(await world.request('GET', `/api/v1/tasks/${id}/events`))
const typesOf = async (id: string) => (await eventsOf(id)).map(({ type }) => type)

const look = '/probe look {}'
const send = (text: string) => `/probe send ${JSON.stringify({ text })}`

describe('an aborted task', () => {
  it('asks no model any more, leaves nothing to approve, and goes on when it is continued', async () => {
    const id = await world.createTask(agent, look, '', send('aborted'))
    const [call] = await world.untilApproval(id)
    expect(dataOf(await act(id, 'abort'))).toMatchObject({ status: 'ABORTED' })
    expect((await world.getCall(call.id)).status).toBe('EXPIRED')
    const { steps } = (await getLedger(id)) ?? {}
    expect((await world.decide(call, 'approve')).status).toBe(409)
    // It is what it is: done again, nothing changes.
    expect(dataOf(await act(id, 'abort'))).toMatchObject({ status: 'ABORTED' })
    await sweep()
    expect((await getLedger(id))?.steps).toBe(steps)

    expect(dataOf(await act(id, 'continue', {}))).toMatchObject({ error: null, ended_at: null })
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.final_response).toContain('The task has ended')
    expect(sent).not.toContain('aborted')
    expect(await typesOf(id)).toEqual(['created', 'waiting', 'aborted', 'continued', 'completed'])
    expect((await eventsOf(id)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
  })

  it('is told something first where something is said', async () => {
    const id = await world.createTask(agent, send('never'))
    await world.untilApproval(id)
    await act(id, 'abort')
    await act(id, 'continue', { prompt: look })
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.final_response).toContain('Seen.')
    const history = await world.history(id)
    expect(history.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'tool'],
      ...['user', 'assistant', 'tool', 'assistant'],
    ])
  })

  it('has its children cancelled, and can’t be cancelled itself', async () => {
    const child = await world.createAgent(['probe'])
    await world.setSettings(agent, 'sub_agent', { allowed_target_agents: [child] })
    await world.override(agent, 'sub_agent.sub_agent', { requires_approval: false })
    const asked = { target_agent_id: child, prompt: send('child') }
    const id = await world.createTask(agent, `/sub_agent sub_agent ${JSON.stringify(asked)}`)
    const [call] = await world.untilApproval(id)
    await act(id, 'abort')
    expect((await world.getTask(call.task_id ?? '')).status).toBe('CANCELLED')
    expect(dataOf(await act(id, 'cancel'))).toMatchObject({ status: 'ABORTED' })
    await act(id, 'continue', {})
    expect((await world.untilTask(id, 'COMPLETED')).final_response).toContain('CANCELLED')
    // Who was told of its end is not told of another.
    for (const verb of ['continue', 'retry'])
      expect((await act(call.task_id ?? '', verb, {})).status).toBe(409)
  })
})

describe('a failed task', () => {
  const failing = async (name: string) => {
    const own = await world.createAgent(['probe'], { max_steps: 1 })
    const id = await world.createTask(own, look, '', look, '', send(name))
    await world.untilTask(id, 'FAILED')
    return { own, id }
  }

  it('is tried again with its history and its steps anew, under the limits of now', async () => {
    const { own, id } = await failing('retried')
    await act(id, 'retry', {})
    expect(await world.untilTask(id, 'FAILED')).toMatchObject({ error: { code: 'MAX_STEPS' } })
    await change(own, { max_steps: 9 })
    expect(dataOf(await act(id, 'retry', {}))).toMatchObject({ error: null, max_steps: 9 })
    const [call] = await world.untilApproval(id)
    await world.decide(call, 'approve')
    await world.untilTask(id, 'COMPLETED')
    expect(sent.filter(text => text === 'retried')).toEqual(['retried'])
    expect((await world.history(id)).filter(({ role }) => role === 'user')).toHaveLength(1)
    expect(await typesOf(id)).toEqual([
      ...['created', 'failed', 'retried', 'failed', 'retried'],
      ...['waiting', 'completed'],
    ])
  })

  it('is continued once, however often the same request comes', async () => {
    const { id } = await failing('once more')
    const again = () => act(id, 'continue', { prompt: look }, { 'idempotency-key': `again-${id}` })
    const answers = await Promise.all([again(), again()])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, expect.any(Number)])
    await world.untilTask(id, 'FAILED', 'COMPLETED')
    expect((await again()).status).toBe(200)
    const { status, body } = await act(
      id,
      'continue',
      { prompt: 'Else' },
      { 'idempotency-key': `again-${id}` },
    )
    expect([status, body.error?.code]).toEqual([422, 'IDEMPOTENCY_MISMATCH'])
    const prompts = (await world.history(id)).filter(({ role }) => role === 'user')
    expect(prompts).toHaveLength(2)
  })

  it('whose answer did not arrive whole is asked for it again', async () => {
    const id = await world.createTask(agent, 'Hello.')
    await world.untilTask(id, 'COMPLETED')
    // As a provider that cuts an answer off leaves it.
    await table.update(
      Task,
      taskKey(id),
      { set: { status: 'FAILED', error: { code: 'ANSWER_CUT_OFF', message: 'Cut off.' } } },
      {},
    )
    await act(id, 'retry', {})
    await world.untilTask(id, 'COMPLETED')
    const history = await world.history(id)
    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(history[2]?.text).toContain('did not arrive whole')
  })
})

describe('a completed task', () => {
  it('is followed up, where its agent takes that', async () => {
    const id = await world.createTask(agent, 'Hello.')
    await world.untilTask(id, 'COMPLETED')
    expect((await act(id, 'continue', {})).status).toBe(409)
    expect((await act(id, 'retry', {})).status).toBe(409)
    expect(dataOf(await act(id, 'follow-up', { prompt: look }))).toMatchObject({
      final_response: null,
    })
    expect((await world.untilTask(id, 'COMPLETED')).final_response).toContain('Seen.')

    await change(agent, { allow_followup: false })
    const refused = await act(id, 'follow-up', { prompt: look })
    await change(agent, { allow_followup: true })
    expect([refused.status, refused.body.error?.message]).toEqual([
      409,
      expect.stringContaining('allow_followup'),
    ])
  })

  it('that has handed over says who goes on', async () => {
    const target = await world.createAgent([])
    await world.setSettings(agent, 'sub_agent', { allowed_target_agents: [target] })
    await world.override(agent, 'sub_agent.handover', { requires_approval: false })
    const asked = { target_agent_id: target, prompt: 'Go on.' }
    const id = await world.createTask(agent, `/sub_agent handover ${JSON.stringify(asked)}`)
    const { handover } = await world.untilTask(id, 'COMPLETED')
    const answer = await act(id, 'follow-up', { prompt: 'More.' })
    expect(answer.body.error?.message).toContain(handover?.target_task_id)
    expect(await typesOf(id)).toEqual(['created', 'handed-over'])
  })
})

it('what is cancelled stays so', async () => {
  const id = await world.createTask(agent, send('cancelled'))
  await world.untilApproval(id)
  await act(id, 'cancel')
  for (const [verb, body] of [
    ['continue', {}],
    ['retry', {}],
    ['follow-up', { prompt: 'More.' }],
  ] as const)
    expect((await act(id, verb, body)).status).toBe(409)
  expect(dataOf(await act(id, 'abort'))).toMatchObject({ status: 'CANCELLED' })
  const [, , last] = await eventsOf(id)
  expect(last).toMatchObject({ type: 'cancelled', by: (await getTask(id)).startedBy })
})

describe('a list of tasks', () => {
  it('is of those in some states, of one agent, without those that others started', async () => {
    const own = await world.createAgent(['probe'])
    const done = await world.createTask(own, 'Hello.')
    const waiting = await world.createTask(own, send('list'))
    await world.untilTask(done, 'COMPLETED')
    await world.untilApproval(waiting)
    const idsOf = async (query: string) =>
      dataOf<{ id: string }[]>(await world.request('GET', `/api/v1/tasks?${query}`)).map(
        ({ id }) => id,
      )
    const of = `agent_id=${own}`
    expect(await idsOf(of)).toEqual([waiting, done])
    expect(await idsOf(`${of}&status=COMPLETED`)).toEqual([done])
    expect(await idsOf(`${of}&status=COMPLETED,PENDING_APPROVAL`)).toEqual([waiting, done])
    expect(await idsOf(`${of}&status=FAILED`)).toEqual([])
    expect(await idsOf(`agent_id=${newId('agent')}`)).toEqual([])
    await table.update(Task, taskKey(done), { set: { depth: 1 } }, {})
    expect(await idsOf(`${of}&top_level=true`)).toEqual([waiting])
    const { status } = await world.request('GET', '/api/v1/tasks?status=DONE')
    expect(status).toBe(400)
  })

  it('goes on over pages that hold nothing of what is asked for', async () => {
    const own = await world.createAgent([])
    const ids = []
    for (let made = 0; made < 5; made++) ids.push(await world.createTask(own, 'Hello.'))
    for (const id of ids) await world.untilTask(id, 'COMPLETED')
    await table.update(Task, taskKey(ids[0] as Id<'task'>), { set: { status: 'FAILED' } }, {})
    const found: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = `status=FAILED&agent_id=${own}&limit=1${cursor ? `&cursor=${cursor}` : ''}`
      const { body } = await world.request('GET', `/api/v1/tasks?${query}`)
      found.push(...(body.data as { id: string }[]).map(({ id }) => id))
      cursor = (body as unknown as { next_cursor: string | null }).next_cursor
    }
    expect(found).toEqual([ids[0]])
  })
})
