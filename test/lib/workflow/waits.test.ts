import { DescribeExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { tools } from '../../../functions/tools/index.ts'
import { config } from '../../../lib/core/config.ts'
import type { Id } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { getLedger } from '../../../lib/task/ledger.ts'
import { getTask, Task, taskKey } from '../../../lib/task/task.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { LEASE_LOST, LEASE_MS, takeLease, writeHeld } from '../../../lib/workflow/lease.ts'
import { park } from '../../../lib/workflow/park.ts'
import { MAX_TICKS_PER_GENERATION, STEP_RESERVE_MS, tick } from '../../../lib/workflow/tick.ts'
import { deliverTo, wake } from '../../../lib/workflow/wake.ts'
import { stepFunctions } from '../../sdk.ts'
import { agent, useAgent, world } from '../../use-world.ts'
import { until } from '../../world.ts'

/** Lets a test hold an operation in the middle. */
const gate = { open: () => {}, entered: 0, wait: Promise.resolve() }
const close = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  gate.entered = 0
  gate.wait = promise
  gate.open = resolve
}

let sent = 0
const probe = defineTool({
  name: 'probe',
  description: 'Waits until the test lets it go on, or asks first.',
  operations: {
    hold: {
      description: 'Wait for the test.',
      parameters: z.object({}),
      effect: 'read',
      describe: () => 'Wait',
      execute: async () => {
        gate.entered += 1
        await gate.wait
        return 'held'
      },
    },
    send: {
      description: 'Send.',
      parameters: z.object({}),
      requiresApprovalByDefault: true,
      describe: () => 'Send',
      execute: async () => {
        sent += 1
        return 'sent'
      },
    },
  },
})

useAgent(['probe'], [probe])

const context = { tools, remainingMs: () => 900_000 }
const runTick = (task: Pick<Task, 'id' | 'generation'>, options: Partial<typeof context> = {}) =>
  tick({ taskId: task.id, generation: task.generation }, { ...context, ...options })

const waitingTask = async () => {
  const id = await world.createTask(agent, '/probe send {}')
  const [call] = await world.untilApproval(id)
  await parked(id)
  return { id, call }
}

/** Its execution waits: the token lies where a wake finds it. */
const parked = (id: Id<'task'>) =>
  until(`${id} is parked`, async () => {
    const task = await getTask(id)
    return task.token === undefined ? undefined : task
  })

const executionOf = ({ id, generation }: Pick<Task, 'id' | 'generation'>) =>
  `${config('stateMachineArn').replace(':stateMachine:', ':execution:')}:${id}-${generation}`

const statusOf = async (task: Pick<Task, 'id' | 'generation'>) =>
  (await stepFunctions().send(new DescribeExecutionCommand({ executionArn: executionOf(task) })))
    .status

const change = (id: Id<'task'>, set: Partial<Task>, remove: string[] = []) =>
  table.update(Task, taskKey(id), { set, remove })

describe('a wait', () => {
  it('ends at once where a wake came between the tick and the parking', async () => {
    const { id } = await waitingTask()
    const before = await getTask(id)
    await wake(id)
    const again = await until('it is parked anew', async () => {
      const task = await getTask(id)
      return task.token !== undefined && task.token !== before.token ? task : undefined
    })
    // The wake that this one saw is an old one by now: what it would leave is not taken.
    const { generation, fence } = again
    await park({ taskId: id, generation, fence, wakeSeq: before.wakeSeq, token: 'late' })
    expect((await getTask(id)).token).toBe(again.token)
  })

  it('keeps its token where the parking of an earlier one arrives late', async () => {
    const { id, call } = await waitingTask()
    const { generation, fence, wakeSeq, token } = await getTask(id)
    // No wake has come in between: only the lease of the tick after it tells the two apart.
    await park({ taskId: id, generation, fence: fence - 1, wakeSeq, token: 'late' })
    expect((await getTask(id)).token).toBe(token)
    await world.decide(call, 'approve')
    await world.untilTask(id, 'COMPLETED')
    expect((await getTask(id)).generation).toBe(generation)
  })

  it('notices a wake that comes while a tick runs', async () => {
    close()
    const id = await world.createTask(agent, '/probe hold {}\n/probe send {}')
    await until('the operation runs', async () => gate.entered || undefined)
    await wake(id)
    gate.open()
    await world.untilApproval(id)
    const task = await parked(id)
    // One tick that ran, and one more since something had come meanwhile.
    expect(task.ticks).toBe(2)
    expect(task.seenWakeSeq).toBe(task.wakeSeq)
  })

  it('ends once, however often it is woken, and goes on waiting where nothing has come', async () => {
    const { id, call } = await waitingTask()
    await Promise.all([wake(id), wake(id), wake(id)])
    await until('it has looked', async () => {
      const task = await getTask(id)
      return task.seenWakeSeq === task.wakeSeq && task.token ? task : undefined
    })
    const steps = (await getLedger(id))?.steps
    expect(steps).toBe(1)
    const before = sent
    await world.decide(call, 'approve')
    await Promise.all([wake(id), wake(id)])
    await world.untilTask(id, 'COMPLETED')
    expect(sent).toBe(before + 1)
    expect((await getLedger(id))?.steps).toBe(2)
  })

  it('of a task that has ended is woken without harm', async () => {
    const { id, call } = await waitingTask()
    await world.decide(call, 'reject')
    await world.untilTask(id, 'COMPLETED')
    const before = await getTask(id)
    await wake(id)
    await deliverTo(id)
    expect(await getTask(id)).toEqual(before)
  })

  it('whose execution is gone goes on in the next generation', async () => {
    const { id, call } = await waitingTask()
    const before = await getTask(id)
    await stepFunctions().send(new StopExecutionCommand({ executionArn: executionOf(before) }))
    await world.decide(call, 'approve')
    await world.untilTask(id, 'COMPLETED')
    expect((await getTask(id)).generation).toBe(before.generation + 1)
  })

  it('with a token that another wait has replaced is ended by the newer one', async () => {
    const { id, call } = await waitingTask()
    const { token = '' } = await getTask(id)
    await change(id, { token: 'old' })
    setTimeout(() => change(id, { token }), 20)
    await world.decide(call, 'approve')
    await wake(id)
    await until('it ends', async () => {
      await deliverTo(id)
      return (await getTask(id)).status === 'COMPLETED' || undefined
    })
  })
})

describe('a tick', () => {
  it('of an older generation leaves the task alone', async () => {
    const { id } = await waitingTask()
    await change(id, { generation: 7 }, ['token'])
    const before = await getTask(id)
    expect(await runTick({ id, generation: 1 })).toMatchObject({ outcome: 'end' })
    expect(await getTask(id)).toEqual(before)
  })

  it('waits while another one holds the task, and one of the two runs', async () => {
    const { id } = await waitingTask()
    const task = await getTask(id)
    const outcomes = await Promise.all([runTick(task), runTick(task)])
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['until', 'wait'])
  })

  it('writes nothing any more once its lease has run out and another has taken the task', async () => {
    close()
    const id = await world.createTask(agent, '/probe hold {}')
    await until('the operation runs', async () => gate.entered || undefined)
    const first = await getTask(id)
    await change(id, { leaseUntil: '2020-01-01T00:00:00.000Z' })
    const second = await takeLease(id, first.generation)
    if (!('task' in second)) throw new Error('The lease was not free.')
    expect(second.task.fence).toBe(first.fence + 1)
    await expect(writeHeld(first, { set: { failures: 9 } })).rejects.toBe(LEASE_LOST)
    gate.open()
    await until('the first tick has given up', async () => world.running() === 0 || undefined)
    const after = await getTask(id)
    expect(after).toMatchObject({ status: 'RUNNING', fence: second.task.fence, failures: 0 })
    await change(id, {}, ['leaseUntil'])
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
  })

  it('holds a task for exactly the length of a lease', async () => {
    const { id } = await waitingTask()
    const { generation } = await getTask(id)
    const now = Date.now()
    const at = (milliseconds: number) => ({ now: () => new Date(now + milliseconds) })
    expect(await takeLease(id, generation, at(0))).toHaveProperty('task')
    expect(await takeLease(id, generation, at(LEASE_MS - 1))).toHaveProperty('heldUntil')
    expect(await takeLease(id, generation, at(LEASE_MS))).toHaveProperty('task')
  })

  it('begins a step only where there is time for it, and hands on otherwise', async () => {
    const { id, call } = await waitingTask()
    await change(id, { generation: 5 }, ['token'])
    await world.decide(call, 'reject')
    const task = { id, generation: 5 }
    expect(await runTick(task, { remainingMs: () => STEP_RESERVE_MS - 1 })).toMatchObject({
      outcome: 'again',
    })
    expect((await getLedger(id))?.steps).toBe(1)
    expect(await runTick(task, { remainingMs: () => STEP_RESERVE_MS })).toMatchObject({
      outcome: 'end',
    })
  })

  it('goes on in the next generation after as many ticks as one may have', async () => {
    const { id } = await waitingTask()
    await change(id, { generation: 5, ticks: MAX_TICKS_PER_GENERATION - 1 }, ['token'])
    expect(await runTick({ id, generation: 5 })).toMatchObject({ outcome: 'wait' })
    expect((await getTask(id)).ticks).toBe(MAX_TICKS_PER_GENERATION)
    expect(await runTick({ id, generation: 5 })).toMatchObject({ outcome: 'end' })
    const task = await parked(id)
    expect(task).toMatchObject({ generation: 6, ticks: 1 })
    expect(await statusOf(task)).toBe('RUNNING')
  })
})
