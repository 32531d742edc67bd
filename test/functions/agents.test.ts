import { describe, expect, it } from 'vitest'
import { newId } from '../../lib/core/ids.ts'
import { agent, useAgent, world } from '../use-world.ts'
import { dataOf } from '../world.ts'

type ToolView = { tool: string; enabled: boolean; missing_required: string[] }

useAgent(['time'])

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
