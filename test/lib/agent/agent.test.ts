import { expect, test } from 'vitest'
import {
  type Agent,
  createAgent,
  getAgent,
  getAgents,
  listAgents,
} from '../../../lib/agent/agent.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { useLocalTable } from '../../local-table.ts'

useLocalTable()

const make = async (principalId: Id<'user'>, createdAt: string): Promise<Agent> => {
  const agent: Agent = {
    id: newId('agent'),
    principalId,
    name: 'Gardener',
    systemPrompt: 'You tend trees.',
    model: { provider: 'rehearsal', name: 'script' },
    maxSteps: 10,
    createdAt,
  }
  await createAgent(agent)
  return agent
}

test('an agent reads as it was made, and none that is not there', async () => {
  const agent = await make(newId('user'), '2026-01-01T00:00:00.000Z')
  expect(await getAgent(agent.id)).toEqual(agent)
  await expect(getAgent(newId('agent'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('an id is taken once', async () => {
  const agent = await make(newId('user'), '2026-01-01T00:00:00.000Z')
  expect(await createAgent({ ...agent, name: 'Other' })).toEqual({ ok: false, item: agent })
})

test('a principal’s agents are listed newest first, page by page, and nobody else’s', async () => {
  const [user, other] = [newId('user'), newId('user')]
  const days = ['2026-01-01', '2026-01-02', '2026-01-03']
  const agents = await Promise.all(days.map(day => make(user, `${day}T00:00:00.000Z`)))
  await make(other, '2026-01-04T00:00:00.000Z')
  const first = await listAgents(user, { limit: 2 })
  const second = await listAgents(user, { limit: 2, cursor: first.cursor ?? '' })
  const listed = [...first.items, ...second.items].map(({ id }) => id)
  expect(listed).toEqual(agents.map(({ id }) => id).reverse())
  await expect(listAgents(other, { limit: 2, cursor: first.cursor ?? '' })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
  })
})

test('of several ids, those that exist are found', async () => {
  const agent = await make(newId('user'), '2026-01-01T00:00:00.000Z')
  const found = await getAgents([agent.id, newId('agent'), agent.id])
  expect([...found.keys()]).toEqual([agent.id])
})
