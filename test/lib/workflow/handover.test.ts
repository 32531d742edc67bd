import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { getAgent } from '../../../lib/agent/agent.ts'
import { derivedId, type Id, idOf, newId } from '../../../lib/core/ids.ts'
import { createTask } from '../../../lib/task/create.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { result } from '../../../lib/tool/result.ts'
import { ask } from '../../probe.ts'
import { useWorld, world } from '../../use-world.ts'
import { until } from '../../world.ts'
import { line, mayAsk } from './sub-agent.ts'

const probe = defineTool({
  name: 'probe',
  description: 'Asks first, or hands over without having said that it does.',
  operations: {
    ask,
    pass: {
      description: 'Hand over to a task that is there.',
      parameters: z.object({ to: idOf('task') }),
      effect: 'idempotent',
      describe: () => 'Pass',
      execute: async ({ parameters }) => result({ content: 'Passed.', handover: parameters.to }),
    },
  },
})

useWorld([probe])

let boss: Id<'agent'>
let helper: Id<'agent'>

beforeAll(async () => {
  helper = await world.createAgent(['probe'], { name: 'Helper' })
  boss = await world.createAgent(['probe', 'sub_agent'], { name: 'Boss' })
  await mayAsk(boss, helper)
})

describe('a handover in a step with other calls', () => {
  it('is refused, and the model can make it again alone', async () => {
    const id = await world.createTask(
      boss,
      '/probe ask {}',
      line('handover', helper, 'Hello'),
      '',
      line('handover', helper, 'Hello again'),
    )
    const [approval] = await world.untilApproval(id)
    const [, refused] = (await world.getTask(id)).tool_calls
    expect(refused).toMatchObject({
      status: 'FAILED',
      result: { content: expect.stringContaining('only call of its step; it did not run') },
    })
    await world.decide(approval, 'approve')
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.handover?.target_task_id).toBe(derivedId('task', task.tool_calls[2]?.id ?? ''))
  })

  it('leaves nothing behind where it happens all the same', async () => {
    const successor = newId('task')
    await createTask({ id: successor, agent: await getAgent(helper), prompt: '/probe ask {}' })
    const id = await world.createTask(
      boss,
      '/probe ask {}',
      line('sub_agent', helper, '/probe ask {}'),
      `/probe pass ${JSON.stringify({ to: successor })}`,
    )
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.handover).toMatchObject({ target_task_id: successor })
    const [asked, spawned] = task.tool_calls
    await until('the gated call is withdrawn', async () =>
      (await world.getCall(asked?.id ?? '')).status === 'EXPIRED' ? true : undefined,
    )
    await world.untilTask(derivedId('task', spawned?.id ?? ''), 'CANCELLED')
    expect((await world.getTask(successor)).status).toBe('QUEUED')
    expect(await world.approvals()).toEqual([])
  })
})
