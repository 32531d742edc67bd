import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dynamodb } from '../../lib/aws/dynamodb.ts'
import type { Answer } from '../stack.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf, type Person, snapshot } from '../world.ts'

// Who may change something is found first, and the change is written then. What happens in between is
// made to happen here: as the change is about to be written, the thing goes to others, or ends.

useWorld()

type Write = { Key?: { pk?: { S?: string } }; Item?: { pk?: { S?: string } } }
const HOOK = 'between'

/** Does something as the first write of a request that isn't of a key's use is on its way. */
const meanwhile = (happens: () => Promise<unknown>) => {
  let hasHappened = false
  dynamodb().middlewareStack.add(
    (next, context) => async args => {
      const { TransactItems = [] } = args.input as { TransactItems?: Record<string, Write>[] }
      const keys = TransactItems.flatMap(item =>
        Object.values(item).map(({ Key, Item }) => (Key ?? Item)?.pk?.S ?? ''),
      )
      const isChange = keys.some(key => !key.startsWith('seen#'))
      if (!hasHappened && context.commandName === 'TransactWriteItemsCommand' && isChange) {
        hasHappened = true
        await happens()
      }
      return next(args)
    },
    { step: 'initialize', name: HOOK, override: true },
  )
  return () => hasHappened
}
afterEach(() => {
  dynamodb().middlewareStack.remove(HOOK)
})

let owner: Person
let other: Person
beforeAll(async () => {
  owner = await world.createPerson(['decide'])
  other = await world.createPerson()
  // What requests keep of keys and limits is kept by now.
  for (const { key } of [owner, other]) await world.request('GET', '/api/v1/agents', { key })
})

const ANY = { 'if-match': '*' }
const model = { provider: 'openai', model: 'gpt-5', name: 'Ours', api_key: 'a-key' }
const webhook = { name: 'Ours', url: 'https://example.com/hook' }
const configure = async (of: string) =>
  dataOf<{ id: string }>(
    await world.request('POST', '/api/v1/llm-configurations', {
      body: { ...model, owner: of },
      key: owner.key,
    }),
  ).id

type Change = [string, string, { body?: unknown; headers?: Record<string, string> }?]
const changesOf = async (agent: string): Promise<Change[]> => {
  const at = `/api/v1/agents/${agent}`
  const configuration = `/api/v1/llm-configurations/${await configure(agent)}`
  const settings = `${at}/tools/time/settings`
  const set = { body: { timezone: 'Europe/Rome' } }
  await world.setSettings(agent, 'time', { timezone: 'UTC' })
  return [
    ['PATCH', at, { body: { name: 'Mine' }, headers: ANY }],
    ['DELETE', at, { headers: ANY }],
    ['POST', `${at}/transfer`, { body: { principal_id: await group() }, headers: ANY }],
    ['PATCH', `${at}/tools`, { body: { enabled: true, tools: ['calculator'] } }],
    ['POST', `${at}/tools/calculator/enable`],
    ['DELETE', `${at}/tools/time/enable`],
    ['PATCH', `${at}/tools/time/operations/now`, { body: { enabled: false } }],
    ['PUT', settings, set],
    ['DELETE', settings],
    ['DELETE', `${settings}/timezone`],
    ['POST', `${at}/keys`, { body: { name: 'Mine' } }],
    ['POST', '/api/v1/llm-configurations', { body: { ...model, owner: agent } }],
    ['PATCH', configuration, { body: { name: 'Mine' }, headers: ANY }],
    ['DELETE', configuration, { headers: ANY }],
  ]
}

/** What a request that came too late leaves as it is, however it was answered. */
const isTooLate = async (
  [method, path, options]: Change,
  happens: () => Promise<unknown>,
): Promise<void> => {
  let after: Record<string, unknown> = {}
  const hasHappened = meanwhile(async () => {
    dataOf((await happens()) as Answer)
    after = await snapshot()
  })
  const answer = await world.request(method, path, { key: owner.key, ...options })
  dynamodb().middlewareStack.remove(HOOK)
  expect([method, path, hasHappened(), answer.status]).toEqual([method, path, true, 404])
  expect(await snapshot()).toEqual(after)
}

const group = async () =>
  dataOf<{ id: string }>(
    await world.request('POST', '/api/v1/groups', { body: { name: 'Group' }, key: owner.key }),
  ).id
const count = 14

describe('a change that was asked for in time', () => {
  it.each(Array.from({ length: count }, (_, index) => index))(
    'is nothing once the agent is another’s (%i)',
    async index => {
      const agent = await world.createAgent(['time'], { key: owner.key })
      const changes = await changesOf(agent)
      expect(changes).toHaveLength(count)
      const body = { principal_id: other.id }
      if (changes[index]?.[1].endsWith('/transfer')) body.principal_id = other.id
      await isTooLate(changes[index] as Change, () =>
        world.request('POST', `/api/v1/agents/${agent}/transfer`, { body, headers: ANY }),
      )
    },
  )

  it.each(Array.from({ length: count }, (_, index) => index))(
    'is nothing once the agent is deleted (%i)',
    async index => {
      const agent = await world.createAgent(['time'], { key: owner.key })
      const change = (await changesOf(agent))[index] as Change
      await isTooLate(change, () =>
        world.request('DELETE', `/api/v1/agents/${agent}`, { headers: ANY }),
      )
    },
  )

  it('is nothing once the group has ended', async () => {
    const settings = (id: string) => `/api/v1/principals/${id}/tools/time/settings`
    const changes: ((id: string) => Change)[] = [
      id => ['PUT', settings(id), { body: { timezone: 'UTC' } }],
      id => ['POST', '/api/v1/llm-configurations', { body: { ...model, owner: id } }],
      id => ['POST', '/api/v1/subscriptions', { body: { ...webhook, principal_id: id } }],
      id => ['POST', `/api/v1/groups/${id}/members`, { body: { user_id: other.id } }],
      id => ['PATCH', `/api/v1/groups/${id}`, { body: { name: 'Mine' } }],
      id => ['POST', '/api/v1/agents', { body: { ...NEW_AGENT, principal_id: id } }],
    ]
    for (const change of changes) {
      const id = await group()
      await isTooLate(change(id), () => world.request('DELETE', `/api/v1/groups/${id}`))
    }
  })
})

const NEW_AGENT = { name: 'Late', model: { provider: 'rehearsal', name: 'script' } }
