import { describe, expect, it, onTestFinished } from 'vitest'
import { stepFunctions } from '../../lib/aws/step-functions.ts'
import { callKey, ToolCall } from '../../lib/call/tool-call.ts'
import type { Id } from '../../lib/core/ids.ts'
import * as table from '../../lib/data/table.ts'
import { sweep } from '../../lib/workflow/sweep.ts'
import { useWorld, world } from '../use-world.ts'
import { type CallView, dataOf } from '../world.ts'
import { probe, sent, waiting } from './letters.ts'

useWorld([probe])

/** Writes over a call's row what only the passing of time would. */
const expireNow = (id: string) =>
  table.update(ToolCall, callKey(id as Id<'call'>), {
    set: { approvalExpiresAt: '2020-01-01T00:00:00.000Z' },
  })

describe('a call that asks for approval', () => {
  it('runs once, with what was approved, after it was approved', async () => {
    const { taskId, call } = await waiting('plain')
    expect(call.arguments).toEqual({ text: 'plain', copies: 1 })
    expect(call.description).toBe('Send 1 of "plain"')
    expect(sent('plain')).toHaveLength(0)
    expect((await world.getTask(taskId)).status).toBe('PENDING_APPROVAL')
    expect((await world.decide(call, 'approve')).status).toBe(200)
    const task = await world.untilTask(taskId, 'COMPLETED')
    expect(sent('plain')).toEqual([{ text: 'plain', sender: 'nobody' }])
    expect(task.final_response).toContain('Sent plain')
    expect(await world.approvals()).toEqual([])
  })

  it('runs with the arguments that the approver edited, under a new description and digest', async () => {
    const { taskId, call } = await waiting('draft')
    const decided = dataOf<CallView>(
      await world.decide(call, 'approve', { arguments: { text: 'final', copies: 2 } }),
    )
    expect(decided.description).toBe('Send 2 of "final"')
    expect(decided.digest).not.toBe(call.digest)
    // The model is told that this is no answer to what it asked for.
    const task = await world.untilTask(taskId, 'COMPLETED')
    expect(task.final_response).toContain('approved this call with other arguments')
    expect(task.final_response).toContain('"final"')
    expect(sent('draft')).toHaveLength(0)
    expect(sent('final')).toHaveLength(1)
  })

  it.each([
    ['too many copies', { text: 'x', copies: 10 }],
    ['an argument that nobody declared', { text: 'x', approved: true }],
    ['none at all', {}],
  ])('stays as it is where the edit has %s', async (_, edited) => {
    const { call } = await waiting('steady')
    const answer = await world.decide(call, 'approve', { arguments: edited })
    expect(answer.status).toBe(422)
    expect(answer.body.error?.code).toBe('VALIDATION_ERROR')
    const after = await world.getCall(call.id)
    expect(after).toEqual(call)
    await world.decide(call, 'reject')
  })

  it('tells the model why it was rejected, and never runs', async () => {
    const { taskId, call } = await waiting('refused')
    await world.decide(call, 'reject', { reason: 'Too blunt.' })
    const task = await world.untilTask(taskId, 'COMPLETED')
    expect(task.final_response).toContain('Action rejected by user: Too blunt.')
    const row = (await world.history(taskId)).find(({ role }) => role === 'tool')
    expect(row).toMatchObject({ text: 'Action rejected by user: Too blunt.', is_error: true })
    expect(sent('refused')).toHaveLength(0)
  })

  it.each(['approve', 'reject'] as const)('can not be decided once more by %s', async how => {
    const { taskId, call } = await waiting(`decided-${how}`)
    await world.decide(call, 'approve')
    await world.untilTask(taskId, 'COMPLETED')
    const again = await world.decide(call, how)
    expect(again.status).toBe(409)
    expect(again.body.error?.code).toBe('INVALID_STATE')
    expect(sent(`decided-${how}`)).toHaveLength(1)
  })

  it('can not be approved after it was rejected', async () => {
    const { taskId, call } = await waiting('no-then-yes')
    await world.decide(call, 'reject')
    expect((await world.decide(call, 'approve')).status).toBe(409)
    await world.untilTask(taskId, 'COMPLETED')
    expect(sent('no-then-yes')).toHaveLength(0)
  })

  it('is decided by one of two who decide at once', async () => {
    const { taskId, call } = await waiting('both')
    const answers = await Promise.all([
      world.decide(call, 'approve'),
      world.decide(call, 'reject'),
      world.decide(call, 'approve'),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    await world.untilTask(taskId, 'COMPLETED')
    const { status } = await world.getCall(call.id)
    expect(sent('both')).toHaveLength(status === 'REJECTED' ? 0 : 1)
  })

  it('is refused with another digest than its own, which the answer then names', async () => {
    const { call } = await waiting('digest')
    const answer = await world.decide(call, 'approve', { digest: 'a'.repeat(64) })
    expect(answer.status).toBe(409)
    expect(answer.body.error).toMatchObject({
      code: 'DIGEST_MISMATCH',
      details: { digest: call.digest },
    })
    expect(await world.getCall(call.id)).toEqual(call)
    await world.decide(call, 'reject')
  })
})

describe('several calls that ask for approval in one step', () => {
  const step = async (name: string) => {
    const agent = await world.createAgent(['probe', 'time'])
    const id = await world.createTask(
      agent,
      `/probe send {"text": "${name}-a"}`,
      '/time convert {"epoch": 0}',
      `/probe send {"text": "${name}-b"}`,
      '',
      `/probe send {"text": "${name}-c"}`,
    )
    const calls = await world.untilApproval(id, 2)
    const named = (text: string) => calls.find(call => call.arguments.text === `${name}-${text}`)
    return { id, a: named('a') ?? calls[0], b: named('b') ?? calls[0] }
  }
  const toolRows = async (id: string) =>
    (await world.history(id)).filter(({ role }) => role === 'tool').map(({ text }) => text)

  it('keep their own answers, in whatever order they are decided, and so does one that asks for none', async () => {
    const { id, a, b } = await step('mixed')
    await world.decide(b, 'approve')
    await world.untilCall(b.id, 'COMPLETED')
    expect((await world.getTask(id)).status).toBe('PENDING_APPROVAL')
    await world.decide(a, 'reject', { reason: 'Not that one.' })
    // The next step asks again: a second wait is a wait like the first.
    const [c] = await world.untilApproval(id)
    expect(await toolRows(id)).toEqual([
      'Action rejected by user: Not that one.',
      expect.any(String),
      'Sent mixed-b',
    ])
    await world.decide(c, 'approve')
    await world.untilTask(id, 'COMPLETED')
    expect(['a', 'b', 'c'].map(letter => sent(`mixed-${letter}`).length)).toEqual([0, 1, 1])
  })

  it('each run once where all are decided at once', async () => {
    const { id, a, b } = await step('together')
    await Promise.all([world.decide(a, 'approve'), world.decide(b, 'approve')])
    const [c] = await world.untilApproval(id)
    await world.decide(c, 'reject')
    await world.untilTask(id, 'COMPLETED')
    expect(['a', 'b', 'c'].map(letter => sent(`together-${letter}`).length)).toEqual([1, 1, 0])
  })
})

describe('an approval that nobody gave in time', () => {
  it('runs nothing when it is given after all', async () => {
    const { taskId, call } = await waiting('late')
    await expireNow(call.id)
    const answer = await world.decide(call, 'approve')
    expect(answer.status).toBe(409)
    expect(answer.body.error?.message).toContain('expired')
    expect((await world.getCall(call.id)).status).toBe('EXPIRED')
    const task = await world.untilTask(taskId, 'COMPLETED')
    expect(task.final_response).toContain('The approval expired')
    expect(sent('late')).toHaveLength(0)
    expect((await world.decide(call, 'reject')).status).toBe(409)
  })

  it('ends as expired where nothing but time passes, outside of tasks too', async () => {
    const agent = await world.createAgent(['probe'])
    const answer = await world.run(
      agent,
      'probe.send',
      { text: 'forgotten' },
      { headers: { 'idempotency-key': 'forgotten' } },
    )
    expect(answer.status).toBe(202)
    const { call_id } = dataOf<{ call_id: string }>({ ...answer, status: 200 })
    await expireNow(call_id)
    expect((await world.getCall(call_id)).status).toBe('EXPIRED')
    expect((await world.approvals()).map(({ id }) => id)).not.toContain(call_id)
    expect(sent('forgotten')).toHaveLength(0)
  })
})

it('a decision is answered where its task can’t be told at once: the sweeper tells it', async () => {
  const { taskId, call } = await waiting('late news')
  const { middlewareStack } = stepFunctions()
  middlewareStack.add(
    () => async () => {
      throw new Error('Step Functions can not be reached.')
    },
    { step: 'initialize', name: 'lose' },
  )
  onTestFinished(() => void middlewareStack.remove('lose'))
  expect((await world.decide(call, 'approve')).status).toBe(200)
  middlewareStack.remove('lose')
  expect((await world.getCall(call.id)).status).toBe('APPROVED')
  await sweep({}, { now: () => new Date(Date.now() + 60_000) })
  await world.untilTask(taskId, 'COMPLETED')
  expect(sent('late news')).toHaveLength(1)
})

describe('an approval outside of tasks', () => {
  it('answers 202, runs once when approved, and keeps its result for whoever asked', async () => {
    const agent = await world.createAgent(['probe'])
    const { key } = await world.createAgentKey(agent)
    const ask = () =>
      world.run(
        undefined,
        'probe.send',
        { text: 'http' },
        { key, headers: { 'idempotency-key': 'k' } },
      )
    const first = await ask()
    expect(first.status).toBe(202)
    const { call_id } = first.body.data as { call_id: string }
    expect((await ask()).body.data).toEqual(first.body.data)
    const call = (await world.approvals()).find(({ id }) => id === call_id)
    expect(call?.task_id).toBeNull()
    expect((await world.decide(await world.getCall(call_id), 'approve', {}, key)).status).toBe(403)
    await world.decide(await world.getCall(call_id), 'approve')
    const done = await world.untilCall(call_id, 'COMPLETED')
    expect(done.result?.content).toBe('Sent http')
    expect(sent('http')).toHaveLength(1)
    const asAgent = await world.request('GET', `/api/v1/tool-calls/${call_id}`, { key })
    expect(asAgent.body.data).toEqual(done)
    const again = await ask()
    expect(again.status).toBe(200)
    expect(again.body.data).toMatchObject({ call_id, content: 'Sent http' })
    expect(sent('http')).toHaveLength(1)
  })
})

describe('the lifting of an approval', () => {
  let agent: Id<'agent'>
  const path = (operation: string) => `/api/v1/agents/${agent}/tools/${operation}`
  const lift = (operation: string, requires_approval: boolean | null, key?: string) =>
    world.request('PATCH', path(operation.replace('.', '/operations/')), {
      body: { requires_approval },
      ...(key === undefined ? {} : { key }),
    })

  it.each<[string, boolean | null, number, number]>([
    ['probe.send', false, 403, 200],
    ['probe.send', null, 200, 200],
    ['probe.send', true, 200, 200],
    ['time.now', false, 403, 200],
    ['time.now', null, 403, 200],
    ['time.now', true, 200, 200],
  ])(
    'of %s by %j answers %i without the scope to decide, and %i with it',
    async (operation, value, without, with_) => {
      const person = await world.createPerson()
      const { key: deciding } = await world.createUserKey(person.id, ['decide'])
      agent = await world.createAgent(['probe', 'time'], { key: person.key })
      const refused = await lift(operation, value, person.key)
      expect(refused.status).toBe(without)
      if (without === 403) {
        expect(refused.body.error?.message).toContain('scope "decide"')
        const read = await world.request('GET', `/api/v1/agents/${agent}`, { key: person.key })
        expect(JSON.stringify(read.body.data)).not.toContain('"override"')
      }
      expect((await lift(operation, value, deciding)).status).toBe(with_)
    },
  )

  it('takes no one round a decision that they may not make', async () => {
    const person = await world.createPerson()
    agent = await world.createAgent(['probe'], { key: person.key })
    await lift('probe.send', false, person.key)
    const answer = await world.run(
      agent,
      'probe.send',
      { text: 'round about' },
      {
        key: person.key,
        headers: { 'idempotency-key': 'round about' },
      },
    )
    expect(answer.status).toBe(202)
    expect(sent('round about')).toEqual([])
  })
})
