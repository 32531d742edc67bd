import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { handler as tickHandler } from '../../../functions/workflow/tick.ts'
import { getAgent } from '../../../lib/agent/agent.ts'
import { stepFunctions } from '../../../lib/aws/step-functions.ts'
import { finish, MAX_RUNS } from '../../../lib/call/receipt.ts'
import { callKey, getCall, ToolCall } from '../../../lib/call/tool-call.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { DUE_SHARDS, dueIndex, listDue } from '../../../lib/data/due.ts'
import * as table from '../../../lib/data/table.ts'
import { createTask } from '../../../lib/task/create.ts'
import { getTask, Task, taskKey } from '../../../lib/task/task.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { TICK_TIMEOUT_SECONDS } from '../../../lib/workflow/definition.ts'
import { MAX_STALLS } from '../../../lib/workflow/stall.ts'
import { sweep } from '../../../lib/workflow/sweep.ts'
import { wake } from '../../../lib/workflow/wake.ts'
import { counted as operation, runs } from '../../probe.ts'
import { agent, useAgent, world } from '../../use-world.ts'
import { until } from '../../world.ts'

const probe = defineTool({
  name: 'probe',
  description: 'Does one thing, once or again.',
  operations: {
    once: { ...operation, description: 'Once.' },
    idempotent: { ...operation, description: 'The same.', effect: 'idempotent' },
    read: { ...operation, description: 'Nothing.', effect: 'read' },
  },
})

useAgent(['probe'], [probe])

const inMinutes = (minutes: number) => ({
  now: () => new Date(Date.now() + minutes * 60_000),
})

const waitingTask = async (effect = 'once') => {
  const id = await world.createTask(agent, `/probe ${effect} {}`)
  const [call] = await world.untilApproval(id)
  await until('it is parked', async () => (await getTask(id)).token)
  return { id, call }
}

describe('the sweeper', () => {
  it('starts a task that was made and never started', async () => {
    const id = newId('task')
    await createTask({ id, agent: await getAgent(agent), prompt: 'Hello' })
    await sweep({}, inMinutes(0.5))
    expect((await getTask(id)).generation).toBe(0)
    await sweep({}, inMinutes(1.1))
    await world.untilTask(id, 'COMPLETED')
  })

  it('delivers a wake that was recorded and never sent', async () => {
    const { id } = await waitingTask()
    await table.update(Task, taskKey(id), { add: { wakeSeq: 1 }, set: { gsi3sk: `2020#${id}` } })
    const { token } = await getTask(id)
    await sweep()
    await until('it has looked', async () => {
      const task = await getTask(id)
      return (task.seenWakeSeq === task.wakeSeq && task.token !== token) || undefined
    })
  })

  it('starts a task anew whose execution waits with a token that no row holds', async () => {
    const { id, call } = await waitingTask()
    const { generation } = await getTask(id)
    await table.update(Task, taskKey(id), { set: { token: 'dead' } })
    await world.decide(call, 'reject')
    // Who wakes it can't tell whether a tick is about to look, and leaves it at that.
    expect(await getTask(id)).toMatchObject({ generation, token: 'dead', seenWakeSeq: 0 })
    await sweep({}, inMinutes(0.6))
    await world.untilTask(id, 'COMPLETED')
    expect((await getTask(id)).generation).toBe(generation + 1)
  })

  it('is not needed by a task whose tick came once more, late: its wake still finds the token', async () => {
    const { id, call } = await waitingTask()
    const { generation } = await getTask(id)
    const outcome = await tickHandler({ taskId: id, generation }, {
      getRemainingTimeInMillis: () => TICK_TIMEOUT_SECONDS * 1_000,
    } as never)
    expect(outcome.outcome).toBe('wait')
    await world.decide(call, 'reject')
    await world.untilTask(id, 'COMPLETED')
    expect((await getTask(id)).generation).toBe(generation)
  })

  it('leaves alone what waits as it should', async () => {
    const { id } = await waitingTask()
    const before = await getTask(id)
    await sweep({}, inMinutes(60))
    expect(await getTask(id)).toEqual(before)
  })

  it('ends a wait that nobody has ended in time, and the task looks for itself', async () => {
    const { id } = await waitingTask()
    const { generation, fence } = await getTask(id)
    await sweep({}, inMinutes(60 * 24 * 2))
    await until('it is parked again', async () => {
      const task = await getTask(id)
      return task.fence > fence && task.status === 'PENDING_APPROVAL' ? true : undefined
    })
    expect((await getTask(id)).generation).toBe(generation)
  })

  it('ends a task whose execution fails again and again without a step', async () => {
    const { id, call } = await waitingTask()
    pretendExecutionsFail()
    for (let stall = 1; stall < MAX_STALLS; stall++) {
      await sweep({}, inMinutes(60 * 24 * 30))
      expect(await getTask(id)).toMatchObject({ stalls: stall, generation: stall + 1 })
      await until('it is parked', async () => (await getTask(id)).token)
    }
    await sweep({}, inMinutes(60 * 24 * 30))
    const task = await world.getTask(id)
    expect(task.status).toBe('FAILED')
    expect(task.error).toMatchObject({ code: 'STALLED' })
    expect((await world.getCall(call.id)).status).toBe('EXPIRED')
  })

  it('counts anew once a step was taken', async () => {
    const { id } = await waitingTask()
    pretendExecutionsFail()
    await table.update(Task, taskKey(id), { set: { stalls: MAX_STALLS - 1, stalledAt: 1 } })
    await sweep({}, inMinutes(60 * 24 * 30))
    expect(await getTask(id)).toMatchObject({
      status: expect.not.stringMatching('FAILED'),
      stalls: 1,
    })
  })

  it('passes over a row that it can’t read, and helps the others', async () => {
    const [bad, good] = [newId('task'), newId('task')]
    for (const id of [bad, good])
      await createTask({ id, agent: await getAgent(agent), prompt: 'Hello' })
    const due = (id: Id<'task'>, at: string) => ({ ...dueIndex(good, at), gsi3sk: `${at}#${id}` })
    const change = { maxSteps: 'many', ...due(bad, '2019') }
    await table.update(z.object({}), taskKey(bad), { set: change })
    await table.update(Task, taskKey(good), { set: due(good, '2020') })
    await sweep()
    await world.untilTask(good, 'COMPLETED')
    // It is looked at again, but not before all others.
    await table.update(z.object({}), taskKey(bad), { set: { maxSteps: 1 } })
    await sweep()
    expect((await getTask(bad)).generation).toBe(0)
    await sweep({}, inMinutes(6))
    await world.untilTask(bad, 'COMPLETED')
  })

  it('takes a root that was woken after its end off its list', async () => {
    const id = await world.createTask(agent, 'Hello')
    await world.untilTask(id, 'COMPLETED')
    await table.update(Task, taskKey(id), { set: { gsi3pk: 'open#0', gsi3sk: `2020#${id}` } })
    await sweep()
    const listed = await Promise.all(
      Array.from({ length: DUE_SHARDS }, (_, shard) => listDue(shard, '2021', 100)),
    )
    expect(listed.flat()).toEqual([])
    await wake(id)
    expect((await getTask(id)).status).toBe('COMPLETED')
  })
})

/** What Step Functions says of executions, until the test is over. */
const pretendExecutionsFail = () => {
  const { middlewareStack } = stepFunctions()
  middlewareStack.add(
    (next, context) => async args =>
      context.commandName === 'DescribeExecutionCommand'
        ? ({ output: { status: 'FAILED', $metadata: {} }, response: {} } as never)
        : next(args),
    { step: 'initialize', name: 'pretend' },
  )
  onTestFinished(() => {
    middlewareStack.remove('pretend')
  })
}

describe('a run that died', () => {
  /** A task whose call was started by a function that is no more. */
  const died = async (effect: string, set: Partial<ToolCall> = {}) => {
    await world.override(agent, `probe.${effect}`, { requires_approval: null })
    const { id, call } = await waitingTask(effect)
    await table.update(ToolCall, callKey(call.id as Id<'call'>), {
      set: {
        status: 'STARTED',
        startedAt: '2020-01-01T00:00:00.000Z',
        deadlineAt: new Date(Date.now() - 1).toISOString(),
        claim: 'dead',
        requiresApproval: false,
        ...set,
      },
      remove: ['gsi2pk', 'gsi2sk'],
    })
    await world.override(agent, `probe.${effect}`, { requires_approval: false })
    const before = runs
    await wake(id)
    return { id, call, before }
  }

  it.each(['idempotent', 'read'])('is repeated where its effect is %s', async effect => {
    const { id, before } = await died(effect)
    await world.untilTask(id, 'COMPLETED')
    expect(runs).toBe(before + 1)
  })

  it('is a question to a person where it may run once; late, its result still lands', async () => {
    const { id, call, before } = await died('once')
    await world.untilTask(id, 'AWAITING_SETTLEMENT')
    const unknown = await getCall(call.id as Id<'call'>)
    expect(unknown?.status).toBe('UNKNOWN')
    expect((await world.approvals()).map(waiting => waiting.id)).toContain(call.id)
    if (unknown) await finish(unknown, { isError: false, content: 'It had run after all.' })
    await wake(id)
    expect((await world.untilTask(id, 'COMPLETED')).final_response).toContain('after all')
    expect(runs).toBe(before)
  })

  it('is repeated a limited number of times', async () => {
    const once = await died('idempotent', { runs: MAX_RUNS - 1 })
    await world.untilTask(once.id, 'COMPLETED')
    const spent = await died('idempotent', { runs: MAX_RUNS })
    await world.untilTask(spent.id, 'AWAITING_SETTLEMENT')
    expect(runs).toBe(spent.before)
    const read = await died('read', { runs: MAX_RUNS })
    await world.untilTask(read.id, 'COMPLETED')
    expect((await world.getCall(read.call.id)).result?.content).toContain('never came to an end')
  })

  it('is settled as one that ran, with what came of it', async () => {
    const { id, call, before } = await died('once')
    await world.untilTask(id, 'AWAITING_SETTLEMENT')
    const body = { ran: true, content: 'It went out at noon.' }
    const answer = await world.request('POST', `/api/v1/tool-calls/${call.id}/settle`, { body })
    expect(answer.body.data).toMatchObject({ status: 'COMPLETED' })
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.final_response).toContain('It went out at noon.')
    expect(runs).toBe(before)
    const again = await world.request('POST', `/api/v1/tool-calls/${call.id}/settle`, { body })
    expect(again.status).toBe(409)
  })

  it('is settled as one that did not run: the record never runs', async () => {
    const { id, call, before } = await died('once')
    await world.untilTask(id, 'AWAITING_SETTLEMENT')
    await world.request('POST', `/api/v1/tool-calls/${call.id}/settle`, { body: { ran: false } })
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.final_response).toContain('did not run')
    expect(task.tool_calls[0]?.status).toBe('FAILED')
    expect(runs).toBe(before)
  })
})
