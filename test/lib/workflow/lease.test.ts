import { afterAll, beforeAll, expect, it } from 'vitest'
import { getAgent } from '../../../lib/agent/agent.ts'
import { newId } from '../../../lib/core/ids.ts'
import { createTask } from '../../../lib/task/create.ts'
import { getTask } from '../../../lib/task/task.ts'
import { LEASE_LOST, takeLease, writeHeld } from '../../../lib/workflow/lease.ts'
import { release } from '../../../lib/workflow/outcome.ts'
import { startWorld, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

it('a lease that was let go is free at once, also of a renewal that was still on its way', async () => {
  const agent = await getAgent(await world.createAgent([]))
  const { task } = await createTask({ id: newId('task'), agent, prompt: 'Hello.' })
  const lease = await takeLease(task.id, task.generation)
  if (!('task' in lease)) throw new Error('It was free.')
  await release(lease.task)
  const late = writeHeld(lease.task, { set: { leaseUntil: '9999-01-01T00:00:00.000Z' } })
  await expect(late).rejects.toBe(LEASE_LOST)
  expect((await getTask(task.id)).leaseUntil).toBeUndefined()
  expect(await takeLease(task.id, task.generation)).toHaveProperty('task')
})
