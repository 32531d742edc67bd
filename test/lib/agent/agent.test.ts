import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Agent,
  agentKey,
  findAgent,
  getAgent,
  getAgents,
  listAgents,
} from '../../../lib/agent/agent.ts'
import { agentToolKey, changeAgentTool, listAgentTools } from '../../../lib/agent/agent-tool.ts'
import { createAgent } from '../../../lib/agent/create-agent.ts'
import {
  clearRemains,
  closeRemains,
  deleteAgent,
  findRemains,
} from '../../../lib/agent/delete-agent.ts'
import { addNote, readNotes } from '../../../lib/agent/note.ts'
import { MAX_TRANSFERRED_KEYS, transferAgent } from '../../../lib/agent/transfer-agent.ts'
import { updateAgent } from '../../../lib/agent/update-agent.ts'
import { type AuditOwner, listAudit } from '../../../lib/audit/audit.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { createGroup, getGroup } from '../../../lib/principal/group.ts'
import { createKey, getKey } from '../../../lib/principal/key.ts'
import { layerKey } from '../../../lib/settings/layer.ts'
import { agent as row } from '../../agent-row.ts'
import { useLocalTable } from '../../local-table.ts'

useLocalTable()

const author = { by: newId('user') }

const make = async (
  principalId: Agent['principalId'] = newId('user'),
  fields: Partial<Agent> = {},
): Promise<Agent> => {
  const agent: Agent = { ...row, id: newId('agent'), principalId, ...fields }
  expect((await createAgent(agent, author)).created).toBe(true)
  return agent
}

const makeGroup = async (): Promise<Id<'group'>> => {
  const id = newId('group')
  await createGroup({ id, name: 'Group' }, { ownerId: newId('user') })
  return id
}

const logOf = async (owner: AuditOwner) => (await listAudit(owner, { limit: 100 })).items

test('an agent reads as it was made, and none that is not there', async () => {
  const agent = await make()
  expect(await getAgent(agent.id)).toEqual(agent)
  await expect(getAgent(newId('agent'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('an agent of before there were versions is of the first, with the usual limits', async () => {
  const { version: _, maxRetries: __, retryAfterMinutes: ___, ...old } = await make()
  const { allowFollowup: ____, toolChoice: _____, ...oldest } = old
  await table.remove(agentKey(old.id))
  await table.insert(row.constructor as never, oldest as never, { key: agentKey(old.id) })
  const agent = await getAgent(old.id)
  expect(agent).toEqual({ ...row, ...oldest })
  expect(await updateAgent(agent, { name: 'New' }, author)).toMatchObject({ version: 2 })
})

test('an id is taken once', async () => {
  const agent = await make()
  expect(await createAgent({ ...agent, name: 'Other' }, author)).toEqual({ agent, created: false })
})

test('a principal’s agents are listed newest first, page by page, and nobody else’s', async () => {
  const [user, other] = [newId('user'), newId('user')]
  const days = ['2026-01-01', '2026-01-02', '2026-01-03']
  const agents = await Promise.all(
    days.map(day => make(user, { createdAt: `${day}T00:00:00.000Z` })),
  )
  await make(other)
  const first = await listAgents(user, { limit: 2 })
  const second = await listAgents(user, { limit: 2, cursor: first.cursor ?? '' })
  const listed = [...first.items, ...second.items].map(({ id }) => id)
  expect(listed).toEqual(agents.map(({ id }) => id).reverse())
  await expect(listAgents(other, { limit: 2, cursor: first.cursor ?? '' })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
  })
})

test('of several ids, those that exist are found', async () => {
  const agent = await make()
  const found = await getAgents([agent.id, newId('agent'), agent.id])
  expect([...found.keys()]).toEqual([agent.id])
})

describe('a change', () => {
  test('of two at once never undoes the other in silence', async () => {
    const agent = await make()
    const outcomes = await Promise.all([
      updateAgent(agent, { name: 'One' }, author),
      updateAgent(agent, { maxSteps: 20 }, author),
    ])
    expect(outcomes.filter(outcome => outcome !== undefined)).toHaveLength(1)
    expect((await getAgent(agent.id)).version).toBe(2)
  })

  test('is logged by field, from what to what, and one that changes nothing is none', async () => {
    const agent = await make()
    expect(await updateAgent(agent, { name: agent.name }, author)).toEqual(agent)
    const changed = await updateAgent(agent, { name: 'B', maxTokens: 5, maxSteps: 10 }, author)
    expect(changed).toEqual({ ...agent, name: 'B', maxTokens: 5, version: 2 })
    expect(await getAgent(agent.id)).toEqual(changed)
    const entries = (await logOf(agent.principalId)).filter(
      ({ action }) => action === 'agent-changed',
    )
    expect(entries.map(({ field, from, to }) => ({ field, from, to }))).toEqual(
      expect.arrayContaining([
        { field: 'name', from: 'Agent', to: 'B' },
        { field: 'max_tokens', from: null, to: 5 },
      ]),
    )
    expect(entries).toHaveLength(2)
  })

  test('any sequence of changes leaves what a plain model of it says', async () => {
    const change = fc.record(
      {
        name: fc.constantFrom('A', 'B'),
        description: fc.constantFrom(null, 'd', 'e'),
        maxSteps: fc.integer({ min: 1, max: 100 }),
        maxTokens: fc.option(fc.integer({ min: 1, max: 9 })),
        maxCostUsd: fc.option(fc.constantFrom(0.5, 2)),
        maxTreeTokens: fc.option(fc.integer({ min: 1, max: 9 })),
        maxTreeCostUsd: fc.option(fc.constantFrom(0.5, 2)),
        toolChoice: fc.constantFrom('auto' as const, 'none' as const, { tool: 'time' }),
        allowFollowup: fc.boolean(),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 6 }), async changes => {
        let agent = await make()
        const model: Record<string, unknown> = { ...agent }
        for (const next of changes) {
          agent = (await updateAgent(agent, next, author)) ?? agent
          for (const [field, value] of Object.entries(next))
            if (value === null) delete model[field]
            else model[field] = value
        }
        expect(await getAgent(agent.id)).toEqual({ ...model, version: agent.version })
      }),
      { numRuns: 25 },
    )
  })
})

describe('a group', () => {
  test('counts the agents that it gets and loses', async () => {
    const [from, to] = [await makeGroup(), await makeGroup()]
    const agents = [await make(from), await make(from)]
    expect((await getGroup(from)).agents).toBe(2)
    const [first, second] = agents
    if (!first || !second) throw new Error('Two agents were made.')
    await transferAgent(first, to, author)
    expect([(await getGroup(from)).agents, (await getGroup(to)).agents]).toEqual([1, 1])
    await deleteAgent(second, author)
    expect((await getGroup(from)).agents).toBe(0)
  })

  test('that has ended gets none', async () => {
    const gone = newId('group')
    const agent = { ...row, id: newId('agent'), principalId: gone }
    await expect(createAgent(agent, author)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await findAgent(agent.id)).toBeUndefined()
    await expect(transferAgent(await make(), gone, author)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})

describe('a transferred agent', () => {
  const makeKey = (agent: Agent) =>
    createKey({ name: 'K', subjectId: agent.id, principalId: agent.principalId, scopes: [] })

  test('is listed with its new owner alone, its keys with it, and both logs tell', async () => {
    const agent = await make()
    const { key } = await makeKey(agent)
    const to = newId('user')
    const moved = await transferAgent(agent, to, author)
    expect(moved).toEqual({ ...agent, principalId: to, version: 2 })
    expect(await getAgent(agent.id)).toEqual(moved)
    expect((await listAgents(agent.principalId, { limit: 9 })).items).toEqual([])
    expect((await listAgents(to, { limit: 9 })).items).toEqual([moved])
    expect((await getKey(key.id))?.principalId).toBe(to)
    for (const owner of [agent.principalId as Id<'user'>, to])
      expect((await logOf(owner)).map(({ action }) => action)).toContain('agent-transferred')
    expect(await transferAgent(agent, newId('user'), author)).toBeUndefined()
  })

  test(`takes ${MAX_TRANSFERRED_KEYS} keys along and no more`, { timeout: 60_000 }, async () => {
    const agent = await make()
    const keys = []
    for (let count = 0; count < MAX_TRANSFERRED_KEYS; count++) keys.push(await makeKey(agent))
    const group = await makeGroup()
    const moved = await transferAgent(agent, group, author)
    expect(moved).toMatchObject({ principalId: group })
    if (!moved) return
    await makeKey(moved)
    await expect(transferAgent(moved, newId('user'), author)).rejects.toMatchObject({
      code: 'INVALID_STATE',
    })
  })
})

describe('a deleted agent', () => {
  const SECRET = 'sealed-canary'

  const makeWhole = async () => {
    const agent = await make()
    await changeAgentTool(agent, 'gone', { enabled: true }, author)
    await addNote(agent.id, { callId: newId('call'), text: 'A note' })
    for (const tool of ['mail', 'gone'])
      await table.insert(row.constructor as never, { entry_key: SECRET } as never, {
        key: layerKey(tool, agent.id),
      })
    const { key } = await createKey({
      name: 'K',
      subjectId: agent.id,
      principalId: agent.principalId,
      scopes: [],
    })
    return { agent, key }
  }

  const leftOf = async (agent: Agent) => {
    const keys = [
      agentKey(agent.id),
      agentToolKey(agent.id, 'gone'),
      layerKey('mail', agent.id),
      layerKey('gone', agent.id),
    ]
    const found = await table.batchGet(keys)
    const { Remains } = await import('../../../lib/agent/delete-agent.ts')
    const anything = Remains.loose().partial()
    return keys.filter(key => found.get(anything, key) !== undefined)
  }

  test('leaves nothing of its own, and its id to nobody', async () => {
    const { agent, key } = await makeWhole()
    const remains = await deleteAgent(agent, author)
    if (!remains) throw new Error('It was of this version.')
    expect(await findAgent(agent.id)).toBeUndefined()
    await clearRemains(remains, ['mail'])
    expect(await readNotes(agent.id)).toEqual([])
    expect(await findRemains(agent.id)).toEqual(remains)
    await closeRemains(remains)
    expect(await leftOf(agent)).toEqual([])
    expect(await listAgentTools(agent.id)).toEqual([])
    expect((await getKey(key.id))?.revokedAt).toBeDefined()
    expect(await findRemains(agent.id)).toBeUndefined()
    await expect(createAgent(agent, author)).rejects.toMatchObject({ code: 'INVALID_STATE' })
  })

  test('of another version stays', async () => {
    const agent = await make()
    await updateAgent(agent, { name: 'B' }, author)
    expect(await deleteAgent(agent, author)).toBeUndefined()
    expect(await findAgent(agent.id)).toBeDefined()
  })

  test('is finished by a repeat wherever it was cut short', async () => {
    const { agent } = await makeWhole()
    const remains = await deleteAgent(agent, author)
    if (!remains) throw new Error('It was of this version.')
    // Cut short after each of its writes in turn: what removes things is told to fail there.
    const { dynamodb } = await import('../../../lib/aws/dynamodb.ts')
    const client = dynamodb()
    for (let at = 0; ; at++) {
      let sent = 0
      const middleware = { name: 'cut', step: 'initialize' } as const
      client.middlewareStack.add(
        next => async args => {
          if (sent++ === at) throw new Error('cut short')
          return next(args)
        },
        middleware,
      )
      const work = clearRemains(remains, ['mail']).then(() => closeRemains(remains))
      const isCut = await work.then(
        () => false,
        () => true,
      )
      client.middlewareStack.remove('cut')
      expect(await findAgent(agent.id)).toBeUndefined()
      if (!isCut) break
      expect(await findRemains(agent.id)).toEqual(remains)
    }
    expect(await leftOf(agent)).toEqual([])
    expect(await findRemains(agent.id)).toBeUndefined()
  })
})
