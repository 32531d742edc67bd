import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { tools } from '../functions/tools/index.ts'
import { newId } from '../lib/core/ids.ts'
import { currentDocument, operationsOf, validators } from './openapi.ts'
import { agent, useAgent, world } from './use-world.ts'
import { dataOf } from './world.ts'

// What the document says that a route refuses, the route refuses: nobody is led to believe that a
// body is wrong which is taken.

const RUNS = 40

useAgent(Object.keys(tools))

const document = await currentDocument()
const withBodies = operationsOf(document).filter(({ operation }) => operation.requestBody)
const validator = validators(document)

/** A body that each route takes, by operation; those of tools begin with none. */
const GOOD: Record<string, (ids: { digest: string }) => object> = {
  claimInstance: () => ({ secret: 'made up', name: 'Ada' }),
  createInvitation: () => ({ role: 'member' }),
  acceptInvitation: () => ({ token: 'inv_made-up', name: 'Ada' }),
  createUser: () => ({ name: 'Ada', role: 'member' }),
  changeUser: () => ({ name: 'Eva', disabled: false }),
  createGroup: () => ({ name: 'Gardeners' }),
  renameGroup: () => ({ name: 'Growers' }),
  addMember: () => ({ user_id: newId('user'), role: 'admin' }),
  changeMember: () => ({ role: 'owner' }),
  createKey: () => ({ name: 'A', scopes: ['decide'], expires_at: '2099-01-01T00:00:00.000Z' }),
  createAgent: () => ({
    name: 'A',
    model: { provider: 'rehearsal', name: 'script' },
    max_steps: 3,
  }),
  updateAgent: () => ({ name: 'B', max_tokens: null, tool_choice: 'auto' }),
  enableTools: () => ({ enabled: true, tools: ['time'], category: 'general' }),
  transferAgent: () => ({ principal_id: newId('user') }),
  importAgentTemplate: () => ({
    id: 'a',
    version: '1',
    agent: { name: 'A', model: { provider: 'rehearsal', name: 'script' } },
    tools: [{ tool_class: 'time', operations: [{ name: 'now', enabled: true }] }],
  }),
  createLlmConfiguration: () => ({
    name: 'A',
    provider: 'openai',
    model: 'gpt-5',
    api_key: 'a-key',
    owner: 'global',
  }),
  updateLlmConfiguration: () => ({ name: 'B', base_url: null, api_key: '***' }),
  createSubscription: () => ({
    name: 'A',
    url: 'https://example.com/hook',
    events: ['task.ended'],
    enabled: false,
  }),
  updateSubscription: () => ({ name: 'B', enabled: true, emails: ['ada@example.org'] }),
  createAgentKey: () => ({ name: 'A', expires_at: '2099-01-01T00:00:00.000Z' }),
  createTask: () => ({ agent_id: agent, prompt: 'Hello' }),
  continueTask: () => ({ prompt: 'Go on.' }),
  retryTask: () => ({}),
  followUpTask: () => ({ prompt: 'And then?' }),
  overrideOperation: () => ({ enabled: true, requires_approval: null }),
  approveToolCall: ({ digest }) => ({ digest, arguments: { media_id: 'none' } }),
  rejectToolCall: ({ digest }) => ({ digest, reason: 'No.' }),
  answerToolCall: () => ({ answer: 'Blue.' }),
  settleToolCall: () => ({ ran: true, content: 'It did.' }),
  putInstanceSettings: () => ({ timezone: 'UTC' }),
  putPrincipalSettings: () => ({ timezone: 'UTC' }),
  putAgentSettings: () => ({ timezone: 'UTC' }),
}

/** The body with one of its fields left out, replaced or added, or something else altogether. */
const mutated = (good: object): fc.Arbitrary<unknown> => {
  const keys = Object.keys(good)
  const changed = fc
    .tuple(fc.constantFrom(...keys, 'more'), fc.oneof(fc.jsonValue(), fc.constant(undefined)))
    .map(([key, value]) => ({ ...good, [key]: value }))
  return fc.oneof({ arbitrary: changed, weight: 4 }, { arbitrary: fc.jsonValue(), weight: 1 })
}

const waitingCall = async () => {
  const made = await world.run(agent, 'media.create_media', { filename: 'a', content: 'A' })
  const { media } = made.body.data as { media: [string] }
  const asked = await world.run(agent, 'media.get_public_url', { media_id: media[0] })
  return asked.body.data as { call_id: string; digest: string }
}

let configuration: string
let group: string
let subscription: string
beforeAll(async () => {
  const made = await world.request('POST', '/api/v1/groups', { body: { name: 'Gardeners' } })
  group = dataOf<{ id: string }>(made).id
  const body = { name: 'A', provider: 'rehearsal', model: 'script' }
  const answer = await world.request('POST', '/api/v1/llm-configurations', { body })
  configuration = dataOf<{ id: string }>(answer).id
  const url = 'https://example.com/hook'
  const subscribed = await world.request('POST', '/api/v1/subscriptions', {
    body: { name: 'A', url },
  })
  subscription = dataOf<{ id: string }>(subscribed).id
})

describe('a body that the document refuses', () => {
  it('is refused by every route that has one in this test', () => {
    const ids = withBodies.map(({ operation }) => operation.operationId)
    expect(ids.filter(id => !id.includes('.')).toSorted()).toEqual(Object.keys(GOOD).toSorted())
  })

  it.each(withBodies)('is refused by $method $path', async ({ method, path, operation }) => {
    const { call_id, digest } = await waitingCall()
    const { id: principal } = (await world.request('GET', '/api/v1/principals/me')).body
      .data as Record<string, string>
    const where = path
      .replace('/principals/{id}', `/principals/${principal}`)
      .replace('/users/{id}', `/users/${principal}`)
      .replace('/groups/{id}', `/groups/${group}`)
      .replace('{user_id}', principal ?? '')
      .replace('/agents/{id}', `/agents/${agent}`)
      .replace('/llm-configurations/{id}', `/llm-configurations/${configuration}`)
      .replace('/subscriptions/{id}', `/subscriptions/${subscription}`)
      .replace('{id}', call_id)
      .replace('{tool}', 'time')
      .replace('{operation}', 'now')
    const place = ['requestBody', 'content', 'application/json', 'schema']
    const validate = validator('paths', path, method.toLowerCase(), ...place)
    const good = GOOD[operation.operationId]?.({ digest }) ?? {}
    let refused = 0
    await fc.assert(
      fc.asyncProperty(mutated(good), async value => {
        const body = JSON.stringify(value)
        if (validate(JSON.parse(body))) return
        refused += 1
        const { status, text } = await world.request(method, where, {
          body,
          headers: {
            'espalier-agent': agent,
            'idempotency-key': crypto.randomUUID(),
            'if-match': '*',
          },
        })
        expect(status, `${body}\n${text}`).toBeGreaterThanOrEqual(400)
        expect(status, `${body}\n${text}`).toBeLessThan(500)
      }),
      { numRuns: RUNS },
    )
    expect(refused).toBeGreaterThan(0)
  })
})
