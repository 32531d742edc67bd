import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { newId } from '../../lib/core/ids.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { agent, useAgent, world } from '../use-world.ts'
import { type CallView, dataOf } from '../world.ts'

type ToolView = { tool: string; enabled: boolean; missing_required: string[] }

const asking = defineTool({
  name: 'asking',
  description: 'x',
  operations: {
    go: {
      description: 'x',
      requiresApprovalByDefault: true,
      parameters: z.object({}),
      describe: () => 'x',
      execute: () => 'x',
    },
  },
})

const skilled = (name: string, recommendsSkills: string[]) =>
  defineTool({
    name,
    description: 'x',
    recommendsSkills,
    operations: {
      go: { description: 'x', parameters: z.object({}), describe: () => 'x', execute: () => 'x' },
    },
  })

useAgent(
  ['time'],
  [asking, skilled('paint', ['colour', 'perspective']), skilled('draw', ['perspective'])],
)

const toolsOf = async (id: string): Promise<ToolView[]> =>
  dataOf<{ tools: ToolView[] }>(await world.request('GET', `/api/v1/agents/${id}`)).tools

describe('a tool that lacks a required setting', () => {
  it('says so as it is enabled and with its agent, until it is set', async () => {
    const path = `/api/v1/agents/${agent}/tools/sub_agent/enable`
    expect(dataOf<ToolView>(await world.request('POST', path))).toMatchObject({
      enabled: true,
      missing_required: ['allowed_target_agents'],
    })
    expect(await toolsOf(agent)).toMatchObject([
      { tool: 'sub_agent', missing_required: ['allowed_target_agents'] },
      { tool: 'time', missing_required: [] },
    ])
    await world.setSettings(agent, 'sub_agent', { allowed_target_agents: [agent] })
    expect((await toolsOf(agent))[0]).toMatchObject({ missing_required: [] })
  })
})

describe('settings of a principal', () => {
  it('are refused where there is no such principal, also from an admin', async () => {
    const someone = await world.createPerson([])
    const path = (id: string) => `/api/v1/principals/${id}/tools/time/settings`
    const body = { timezone: 'Europe/Berlin' }
    expect((await world.request('PUT', path(someone.id), { body })).status).toBe(200)
    expect((await world.request('PUT', path(newId('user')), { body })).status).toBe(404)
    expect((await world.request('GET', path(newId('group')))).status).toBe(404)
  })
})

describe('a model that is compatible with OpenAI’s', () => {
  it('is refused without an address, by the name that the API has for it', async () => {
    const body = { name: 'Ada', model: { provider: 'openai-compatible', name: 'a-model' } }
    const answer = await world.request('POST', '/api/v1/agents', { body })
    expect(answer.status).toBe(422)
    expect(answer.body.error?.message).toContain('"model.base_url": is needed')
    const model = { ...body.model, base_url: 'http://127.0.0.1:1/v1' }
    const made = await world.request('POST', '/api/v1/agents', { body: { ...body, model } })
    expect(made.status).toBe(201)
  })
})

const ANY = { 'if-match': '*' }
const model = { provider: 'rehearsal', name: 'script' }

describe('a change of an agent', () => {
  it('says which version it is meant for, and of two at once one is told', async () => {
    const id = await world.createAgent([])
    const path = `/api/v1/agents/${id}`
    const seen = await world.request('GET', path)
    expect(seen.headers.get('etag')).toBe('"1"')
    expect(dataOf(seen)).toMatchObject({
      version: 1,
      max_steps: 10,
      max_tokens: null,
      max_cost_usd: null,
      max_tree_tokens: null,
      max_tree_cost_usd: null,
      max_retries: 0,
      retry_after_minutes: 5,
      allow_followup: true,
      tool_choice: 'auto',
    })
    const bare = await world.request('PATCH', path, { body: { name: 'B' } })
    expect([bare.status, bare.body.error?.code]).toEqual([428, 'VERSION_REQUIRED'])
    const headers = { 'if-match': '"1"' }
    const answers = await Promise.all(
      [{ name: 'One' }, { max_steps: 20 }].map(body =>
        world.request('PATCH', path, { body, headers }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412])
    const lost = answers.find(({ status }) => status === 412)
    expect(lost?.body.error).toMatchObject({ code: 'VERSION_MISMATCH', details: { version: 2 } })
    const forced = await world.request('PATCH', path, { body: { name: 'Any' }, headers: ANY })
    expect(dataOf(forced)).toMatchObject({ name: 'Any', version: 3 })
    expect(forced.headers.get('etag')).toBe('"3"')
    for (const method of ['PATCH', 'DELETE'])
      expect(
        (
          await world.request(method, path, {
            headers,
            ...(method === 'PATCH' ? { body: {} } : {}),
          })
        ).status,
      ).toBe(412)
  })

  it('of whatever is there comes to pass beside others', async () => {
    const id = await world.createAgent([])
    const answers = await Promise.all(
      [{ name: 'A' }, { max_steps: 2 }, { description: 'd' }].map(body =>
        world.request('PATCH', `/api/v1/agents/${id}`, { body, headers: ANY }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(dataOf(await world.request('GET', `/api/v1/agents/${id}`))).toMatchObject({
      name: 'A',
      max_steps: 2,
      description: 'd',
      version: 4,
    })
  })

  it.each([
    [{ max_steps: 0 }, { max_steps: 1 }],
    [{ max_steps: 101 }, { max_steps: 100 }],
    [{ max_tokens: 0 }, { max_tokens: 1 }],
    [{ max_tokens: 1_000_000_001 }, { max_tokens: 1_000_000_000 }],
    [{ max_cost_usd: 0 }, { max_cost_usd: 0.01 }],
    [{ max_cost_usd: 10_001 }, { max_cost_usd: 10_000 }],
    [{ max_tree_tokens: 0 }, { max_tree_tokens: 1 }],
    [{ max_tree_tokens: 1_000_000_001 }, { max_tree_tokens: 1_000_000_000 }],
    [{ max_tree_cost_usd: 0 }, { max_tree_cost_usd: 0.01 }],
    [{ max_tree_cost_usd: 10_001 }, { max_tree_cost_usd: 10_000 }],
    [{ max_retries: 11 }, { max_retries: 10 }],
    [{ retry_after_minutes: 0 }, { retry_after_minutes: 1 }],
    [{ retry_after_minutes: 1_441 }, { retry_after_minutes: 1_440 }],
    [{ tool_choice: 'any' }, { tool_choice: { tool: 'time' } }],
    [{ model, llm_configuration_id: newId('llm') }, { model }],
  ])('to %j is refused, and to %j is not', async (bad, good) => {
    const path = `/api/v1/agents/${agent}`
    expect((await world.request('PATCH', path, { body: bad, headers: ANY })).status).toBe(422)
    const answer = await world.request('PATCH', path, { body: good, headers: ANY })
    expect(dataOf(answer)).toMatchObject(JSON.parse(JSON.stringify(good).replace(/"base.*?,/, '')))
  })
})

const once = () => ({ headers: { 'idempotency-key': crypto.randomUUID() } })

const pendingIn = async (task: string): Promise<CallView> => {
  const { tool_calls: calls } = await world.untilTask(task, 'PENDING_APPROVAL')
  if (!calls[0]) throw new Error('A task waits for an approval of no call.')
  return calls[0]
}

describe('a deleted agent', () => {
  it('takes its tasks along, at whatever they wait for, and nothing of it runs any more', async () => {
    const id = await world.createAgent(['asking'])
    const { key } = await world.createAgentKey(id)
    const task = await world.createTask(id, '/asking go {}')
    const pending = await pendingIn(task)
    const direct = await world.run(id, 'asking.go', {}, once())
    const deleted = await world.request('DELETE', `/api/v1/agents/${id}`, { headers: ANY })
    expect(dataOf(deleted)).toEqual({ id, deleted: true })
    expect(await world.getTask(task)).toMatchObject({ status: 'CANCELLED' })
    expect(await world.getCall(pending.id)).toMatchObject({ status: 'EXPIRED' })
    for (const method of ['GET', 'DELETE'])
      expect((await world.request(method, `/api/v1/agents/${id}`, { headers: ANY })).status).toBe(
        404,
      )
    expect((await world.run(undefined, 'asking.go', {}, { key })).status).toBe(401)
    // What was asked for outside of a task is refused as it would start.
    const call = dataOf<{ call_id: string; digest: string }>(direct)
    dataOf(
      await world.request('POST', `/api/v1/tool-calls/${call.call_id}/approve`, {
        body: { digest: call.digest },
      }),
    )
    expect(await world.untilCall(call.call_id, 'FAILED')).toMatchObject({
      result: { code: 'NOT_FOUND' },
    })
  })

  it('is not made again by the request that made it', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const body = { name: 'Once', model }
    const made = await world.request('POST', '/api/v1/agents', { body, headers })
    const { id } = dataOf<{ id: string }>(made)
    dataOf(await world.request('DELETE', `/api/v1/agents/${id}`, { headers: ANY }))
    const again = await world.request('POST', '/api/v1/agents', { body, headers })
    expect([again.status, again.body.error?.code]).toEqual([409, 'INVALID_STATE'])
  })
})

describe('a transferred agent', () => {
  it('goes by its new owner’s settings, and what waited for its former owner ends', async () => {
    const [from, to] = [await world.createPerson(['decide']), await world.createPerson(['decide'])]
    const id = await world.createAgent(['time', 'asking'], { key: from.key })
    const settings = (principal: string) => `/api/v1/principals/${principal}/tools/time/settings`
    const body = { timezone: 'Asia/Tokyo' }
    dataOf(await world.request('PUT', settings(from.id), { body, key: from.key }))
    const zone = async () =>
      dataOf<{ settings: { timezone: { value: string } } }>(
        await world.request('GET', `/api/v1/agents/${id}/tools/time/settings`),
      ).settings.timezone.value
    expect(await zone()).toBe('Asia/Tokyo')
    const task = await world.createTask(id, '/asking go {}')
    const pending = await pendingIn(task)
    const direct = await world.run(id, 'asking.go', {}, once())

    const path = `/api/v1/agents/${id}/transfer`
    const give = { body: { principal_id: to.id }, headers: ANY }
    expect((await world.request('POST', path, { ...give, key: from.key })).status).toBe(404)
    expect(dataOf(await world.request('POST', path, give))).toMatchObject({ principal_id: to.id })

    expect(await zone()).toBe('UTC')
    expect((await world.request('GET', `/api/v1/agents/${id}`, { key: from.key })).status).toBe(404)
    expect((await world.request('GET', `/api/v1/agents/${id}`, { key: to.key })).status).toBe(200)
    const call = dataOf<{ call_id: string; digest: string }>(direct)
    for (const { call_id, digest } of [call, { call_id: pending.id, digest: pending.digest }]) {
      const approve = `/api/v1/tool-calls/${call_id}/approve`
      dataOf(await world.request('POST', approve, { body: { digest }, key: from.key }))
    }
    const refused = await world.untilCall(call.call_id, 'FAILED')
    expect(refused.result?.content).toContain('has moved')
    const ended = await world.untilTask(task, 'FAILED', 'COMPLETED')
    expect(ended.error).toMatchObject({ code: 'AGENT_GONE' })
  })
})

describe('several tools', () => {
  it('are enabled by name and by category at once, or none is', async () => {
    const id = await world.createAgent([])
    const change = (body: object) => world.request('PATCH', `/api/v1/agents/${id}/tools`, { body })
    const enabled = async () =>
      (await toolsOf(id)).filter(tool => tool.enabled).map(({ tool }) => tool)
    const some = await change({ enabled: true, tools: ['asking', 'time', 'asking'] })
    expect(dataOf<ToolView[]>(some).map(({ tool }) => tool)).toEqual(['asking', 'time'])
    expect((await change({ enabled: true, tools: ['paint', 'nothing'] })).status).toBe(404)
    expect(await enabled()).toEqual(['asking', 'time'])
    dataOf(await change({ enabled: true, tools: ['asking'], category: 'general' }))
    expect(await enabled()).toEqual(expect.arrayContaining(['paint', 'draw', 'time']))
    dataOf(await change({ enabled: false, category: 'general' }))
    expect(await enabled()).not.toContain('time')
    expect((await change({ enabled: true })).status).toBe(422)
  })
})

describe('a tool with skills of its own', () => {
  it('tells them as it is enabled, and as it is disabled those that nothing else recommends', async () => {
    const id = await world.createAgent([])
    const path = (tool: string) => `/api/v1/agents/${id}/tools/${tool}/enable`
    const enabled = dataOf(await world.request('POST', path('paint')))
    expect(enabled).toMatchObject({ recommended_skills: ['colour', 'perspective'] })
    dataOf(await world.request('POST', path('draw')))
    expect(dataOf(await world.request('DELETE', path('paint')))).toMatchObject({
      enabled: false,
      skills_to_remove: ['colour'],
    })
    expect(dataOf(await world.request('DELETE', path('draw')))).toMatchObject({
      skills_to_remove: ['perspective'],
    })
  })
})
