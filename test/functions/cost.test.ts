import { describe, expect, it } from 'vitest'
import { newId } from '../../lib/core/ids.ts'
import { currentUsage } from '../../lib/data/usage.ts'
import { createGroup } from '../../lib/principal/group.ts'
import { addMember } from '../../lib/principal/member.ts'
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

  it('for an agent of another principal is one more read', async () => {
    const [owner, member] = await Promise.all([world.createPerson(), world.createPerson()])
    const groupId = newId('group')
    await createGroup({ id: groupId, name: 'Gardeners' }, { ownerId: owner.id })
    await addMember({ groupId, userId: member.id, role: 'member', by: owner.id })
    const ofGroup = await world.createAgent(['time'], { key: owner.key, principal_id: groupId })
    const call = async (agentId: string | undefined, key: string) => {
      const answer = await world.run(agentId, 'time.now', {}, { key })
      expect(answer.status, answer.text).toBe(200)
    }
    expect(await requestsOf(() => call(ofGroup, member.key))).toBe(READ_START_RESULT + 1)
    // So it is for the key of an agent that has moved, wherever it went.
    for (const to of [groupId, member.id]) {
      const moving = await world.createAgent(['time'], { key: owner.key })
      const { key } = await world.createAgentKey(moving)
      const moved = await world.request('POST', `/api/v1/agents/${moving}/transfer`, {
        body: { principal_id: to },
        headers: { 'if-match': '*' },
      })
      expect(moved.status, moved.text).toBe(200)
      expect(await requestsOf(() => call(undefined, key))).toBe(READ_START_RESULT + 1)
    }
  })

  it('with a key that does not count is one read, whatever agent it names', async () => {
    const foreign = await world.createPerson()
    const forged = `${foreign.key.slice(0, -1)}${foreign.key.endsWith('A') ? 'B' : 'A'}`
    const count = await requestsOf(async () => {
      const answer = await world.run(agent, 'time.now', {}, { key: forged })
      expect(answer.status).toBe(401)
    })
    expect(count).toBe(1)
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
