import { describe, expect, it } from 'vitest'
import { currentUsage } from '../../lib/data/usage.ts'
import { agent, useAgent, world } from '../use-world.ts'

useAgent(['time'])

/** One batched read for the gate, the call's record as it starts, and what came of it. */
const READ_START_RESULT = 3

const requestsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const before = currentUsage().requests
  await work()
  return currentUsage().requests - before
}

describe('an ungated call over HTTP', () => {
  it('with the agent’s own key is three requests to DynamoDB', async () => {
    const { key } = await world.createAgentKey(agent)
    const count = await requestsOf(async () => {
      const answer = await world.run(undefined, 'time.now', {}, { key })
      expect(answer.status).toBe(200)
    })
    expect(count).toBe(READ_START_RESULT)
  })

  it('with a user’s key that names one of the user’s agents is three as well', async () => {
    const owner = await world.createPerson([])
    const own = await world.createAgent(['time'], { key: owner.key })
    const count = await requestsOf(() => world.run(own, 'time.now', {}, { key: owner.key }))
    expect(count).toBe(READ_START_RESULT)
  })

  it('with a key of one’s own choosing takes a few more, to find whose it is', async () => {
    const count = await requestsOf(() => world.run(agent, 'time.now', {}))
    expect(count).toBeGreaterThan(READ_START_RESULT)
    expect(count).toBeLessThanOrEqual(READ_START_RESULT + 3)
  })

  it('that the gate refuses is one request, and writes nothing', async () => {
    const { key } = await world.createAgentKey(agent)
    const before = currentUsage().writeUnits
    const count = await requestsOf(async () => {
      const answer = await world.run(undefined, 'time.now', { timezon: 'UTC' }, { key })
      expect(answer.status).toBe(422)
    })
    expect(count).toBe(1)
    expect(currentUsage().writeUnits).toBe(before)
  })
})
