import { expect, it } from 'vitest'
import * as z from 'zod'
import { tools } from '../../../functions/tools/index.ts'
import { getAgent } from '../../../lib/agent/agent.ts'
import { newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { createTask } from '../../../lib/task/create.ts'
import { getTask, Task, taskKey } from '../../../lib/task/task.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { goOnAfterFailure, MAX_STALLS } from '../../../lib/workflow/stall.ts'
import { CALL_RESERVE_MS } from '../../../lib/workflow/step-calls.ts'
import { STEP_RESERVE_MS, tick } from '../../../lib/workflow/tick.ts'
import { ask } from '../../probe.ts'
import { agent, useAgent, world } from '../../use-world.ts'
import { until } from '../../world.ts'

/** What a tick's function has left; each call takes some of it. */
let remaining = 0
const CALL_MS = 45_000
const probe = defineTool({
  name: 'probe',
  description: 'Takes its time, or asks first.',
  operations: {
    take: {
      description: 'Take time.',
      parameters: z.object({}),
      describe: () => 'Take time',
      execute: async () => {
        remaining -= CALL_MS
        return 'taken'
      },
    },
    ask,
  },
})

useAgent(['probe'], [probe])

it('a tick begins a call only where there is time for it, and the next one goes on', async () => {
  const id = newId('task')
  const prompt = Array.from({ length: 4 }, () => '/probe take {}').join('\n')
  await createTask({ id, agent: await getAgent(agent), prompt })
  const run = async (milliseconds: number) => {
    remaining = milliseconds
    const { outcome } = await tick(
      { taskId: id, generation: 0 },
      { tools, remainingMs: () => remaining },
    )
    const { tool_calls } = await world.getTask(id)
    return [outcome, ...tool_calls.map(({ status }) => status)]
  }
  // The model is asked, and after three calls there is too little for one more.
  const three = ['again', ...Array(3).fill('COMPLETED'), 'REQUESTED']
  expect(await run(STEP_RESERVE_MS)).toEqual(three)
  expect(await run(CALL_RESERVE_MS - 1)).toEqual(three)
  expect(await run(CALL_RESERVE_MS)).toEqual(['again', ...Array(4).fill('COMPLETED')])
  // What has ended needs no time: on with the next step.
  expect(await run(STEP_RESERVE_MS)).toEqual(['end', ...Array(4).fill('COMPLETED')])
})

it('a task whose executions fail has gone on where a call of it has ended', async () => {
  const id = await world.createTask(agent, '/probe take {}\n/probe ask {}')
  await world.untilApproval(id)
  const stalled = async () => {
    await until('it is parked', async () => (await getTask(id)).token)
    await goOnAfterFailure(await getTask(id))
    return (await getTask(id)).stalls
  }
  // As it was when the step had been asked for, and none of its calls had ended.
  await table.update(Task, taskKey(id), { set: { stalls: MAX_STALLS - 1, stalledAt: 2 } })
  expect(await stalled()).toBe(1)
  expect(await stalled()).toBe(2)
})
