import { beforeAll, expect, it } from 'vitest'
import type { Id } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { MAX_HANDOVERS } from '../../../lib/task/create.ts'
import { Ledger, ledgerKey, MAX_TREE_STEPS } from '../../../lib/task/ledger.ts'
import { getTask, type Task } from '../../../lib/task/task.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { MAX_CALLS_PER_STEP, readConversation } from '../../../lib/workflow/conversation.ts'
import { ask } from '../../probe.ts'
import { useWorld, world } from '../../use-world.ts'

const probe = defineTool({
  name: 'probe',
  description: 'Asks first.',
  operations: {
    ask,
  },
})

useWorld([probe])

let agents: [Id<'agent'>, Id<'agent'>]

beforeAll(async () => {
  agents = [
    await world.createAgent(['probe', 'sub_agent']),
    await world.createAgent(['probe', 'sub_agent']),
  ]
  for (const agent of agents) {
    await world.setSettings(agent, 'sub_agent', { allowed_target_agents: agents })
    await world.override(agent, 'sub_agent.handover', { requires_approval: false })
  }
})

const calls = (count: number) => Array.from({ length: count }, () => '/nothing')

it(`a step makes ${MAX_CALLS_PER_STEP} calls; of more the model is told that they did not run`, async () => {
  const id = await world.createTask(agents[0], ...calls(MAX_CALLS_PER_STEP + 2))
  const task = await world.untilTask(id, 'COMPLETED')
  expect(task.tool_calls).toHaveLength(MAX_CALLS_PER_STEP)
  const told = (await world.history(id)).filter(({ role }) => role === 'tool')
  expect(told).toHaveLength(MAX_CALLS_PER_STEP + 2)
  for (const [index, { text }] of told.entries())
    expect(text).toContain(index < MAX_CALLS_PER_STEP ? 'There is no tool' : 'a step makes at most')
  expect((await readConversation(id)).calls.size).toBe(MAX_CALLS_PER_STEP)
})

/** A prompt that has this many tasks hand over, one to the other. */
const handovers = (count: number): string => {
  if (count === 0) return 'Hello'
  const handover = { target_agent_id: agents[count % 2], prompt: handovers(count - 1) }
  return `/sub_agent handover ${JSON.stringify(handover)}`
}

/** The tasks that went on in a task's place, itself the first. */
const line = async (id: Id<'task'>): Promise<Task[]> => {
  await world.untilTask(id, 'COMPLETED', 'FAILED')
  const task = await getTask(id)
  return task.handoverTo === undefined ? [task] : [task, ...(await line(task.handoverTo))]
}

it(`a task is handed over ${MAX_HANDOVERS} times and no more`, async () => {
  // Each of the two asks the other one.
  const first = agents[MAX_HANDOVERS % 2 === 0 ? 1 : 0]
  const tasks = await line(await world.createTask(first, handovers(MAX_HANDOVERS)))
  expect(tasks).toHaveLength(MAX_HANDOVERS + 1)
  const other = first === agents[0] ? agents[1] : agents[0]
  const more = await line(await world.createTask(other, handovers(MAX_HANDOVERS + 1)))
  expect(more).toHaveLength(MAX_HANDOVERS + 1)
  const last = await world.getTask(more.at(-1)?.id ?? '')
  expect(last.tool_calls[0]?.result?.content).toContain(
    `handed over at most ${MAX_HANDOVERS} times`,
  )
})

it('a task whose tree has had its steps fails, and says why', async () => {
  const id = await world.createTask(agents[0], '/probe ask {}')
  const [approval] = await world.untilApproval(id)
  await table.update(Ledger, ledgerKey(id), { set: { steps: MAX_TREE_STEPS } })
  await world.decide(approval, 'approve')
  const task = await world.untilTask(id, 'FAILED', 'CANCELLED')
  expect(task).toMatchObject({ status: 'FAILED', error: { code: 'MAX_TREE_STEPS' } })
})
