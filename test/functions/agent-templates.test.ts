import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { newId } from '../../lib/core/ids.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf, snapshot } from '../world.ts'

const IMPORT = '/api/v1/agent-templates/import'
const model = { provider: 'rehearsal', name: 'script' }

const operation = {
  description: 'x',
  parameters: z.object({}),
  describe: () => 'x',
  execute: () => 'x',
}
const letters = defineTool({
  name: 'letters',
  description: 'x',
  settings: {
    sender: setting.text({ label: 'Sender', required: true }),
    copies: setting.number({ label: 'Copies' }),
    urgent: setting.toggle({ label: 'Urgent' }),
    boxes: setting.multiSelect({ label: 'Boxes', options: ['in', 'out'] }),
    token: setting.password({ label: 'Token' }),
    skills: setting.multiSelect({ label: 'Skills', resolveAs: 'skill' }),
  },
  operations: { send: { ...operation, requiresApprovalByDefault: true }, draft: operation },
})

useWorld([letters])

type Imported = {
  dry_run: boolean
  agent_id: string | null
  tools: { tool_class: string; missing_required: string[]; ready_to_enable: boolean }[]
}

const post = (body: object, options: { key?: string; query?: string } = {}) =>
  world.request('POST', `${IMPORT}${options.query ?? ''}`, {
    body,
    ...(options.key ? { key: options.key } : {}),
  })

const exportOf = async (id: string | null) =>
  dataOf<object>(await world.request('GET', `/api/v1/agents/${id}/export?include_settings=1`))

const template = (more: object = {}) => ({
  id: 'clerk',
  version: '1',
  agent: { name: 'Clerk', model },
  ...more,
})

describe('an import', () => {
  it('makes the agent with its tools, operations and settings, told in one entry of the log', async () => {
    const tools = [
      {
        tool_class: 'letters',
        settings: { sender: 'Ada', boxes: ['in'] },
        operations: [{ name: 'send', enabled: false }],
      },
      { tool_class: 'time', enabled: false },
    ]
    const answer = await post(template({ tools }))
    expect(answer.status).toBe(201)
    const { agent_id: id } = dataOf<Imported>(answer)
    expect(dataOf(await world.request('GET', `/api/v1/agents/${id}`))).toMatchObject({
      name: 'Clerk',
      tools: [
        {
          tool: 'letters',
          enabled: true,
          ready_to_enable: true,
          operations: [
            { name: 'send', enabled: false, source: { enabled: 'override' } },
            { name: 'draft', enabled: true, source: { enabled: 'default' } },
          ],
        },
        { tool: 'time', enabled: false },
      ],
    })
    const settings = await world.request('GET', `/api/v1/agents/${id}/tools/letters/settings`)
    expect(dataOf(settings)).toMatchObject({
      settings: { sender: { value: 'Ada', source: 'agent' } },
    })
    const entries = Object.values(await snapshot()).filter(
      item => (item as { target?: string }).target === id,
    )
    expect(entries).toMatchObject([
      { action: 'agent-created', to: { template: 'clerk 1', name: 'Clerk' } },
    ])
  })

  it('that is only tried says what it would do, and does nothing', async () => {
    const before = await snapshot()
    const body = template({ tools: [{ tool_class: 'letters' }] })
    const answer = dataOf<Imported>(await post(body, { query: '?dry_run=true' }))
    expect(answer).toMatchObject({
      dry_run: true,
      agent_id: null,
      tools: [{ tool_class: 'letters', missing_required: ['sender'], ready_to_enable: false }],
    })
    expect(await snapshot()).toEqual(before)
  })

  it('names all that is wrong at once, and does nothing', async () => {
    const before = await snapshot()
    const configuration = newId('llm')
    const body = template({
      agent: { name: 'Clerk', llm_configuration_id: configuration },
      required_plugins: ['weather'],
      tools: [
        { tool_class: 'nothing' },
        { tool_class: 'time' },
        { tool_class: 'time' },
        { tool_class: 'nowhere' },
        {
          tool_class: 'letters',
          settings: {
            token: 'a-secret',
            copies: 'many',
            boxes: ['up'],
            colour: 'red',
            skills: ['poetry'],
          },
          operations: [{ name: 'burn' }, { name: 'send' }, { name: 'send' }],
        },
      ],
    })
    for (const query of ['', '?dry_run=1']) {
      const { status, body: refused } = await post(body, { query })
      expect(status).toBe(422)
      const { message = '' } = refused.error ?? {}
      for (const word of [
        'nothing, nowhere',
        'named twice: time',
        'weather',
        configuration,
        '"letters.settings.token": is a password',
        '"letters.settings.copies": must be a number',
        '"letters.settings.boxes": must be of: in, out',
        '"letters.settings.colour": is no setting',
        'poetry',
        'burn',
        'named twice: send',
      ])
        expect(message).toContain(word)
      expect(message).not.toContain('a-secret')
    }
    expect(await snapshot()).toEqual(before)
  })

  it('lifts an approval only with the scope "decide"', async () => {
    const operations = [{ name: 'send', requires_approval: false }]
    const body = template({ tools: [{ tool_class: 'letters', operations }] })
    const unable = await world.createPerson()
    const refused = await post(body, { key: unable.key })
    expect(refused.status).toBe(403)
    expect(refused.body.error?.message).toContain('letters.send')
    const able = await world.createPerson(['decide'])
    expect((await post(body, { key: able.key })).status).toBe(201)
  })

  it('again under the same key is the same agent', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const body = template({ tools: [{ tool_class: 'time' }] })
    const first = await world.request('POST', IMPORT, { body, headers })
    const second = await world.request('POST', IMPORT, { body, headers })
    expect([first.status, second.status]).toEqual([201, 200])
    expect(dataOf<Imported>(second).agent_id).toBe(dataOf<Imported>(first).agent_id)
  })

  it('leaves an address of one’s own to admins', async () => {
    const { key } = await world.createPerson()
    const agent = { name: 'A', model: { ...model, base_url: 'https://evil.example' } }
    expect((await post(template({ agent }), { key })).status).toBe(403)
  })
})

describe('an export', () => {
  it('holds no password and, unless asked for, no setting', async () => {
    const id = await world.createAgent(['letters'])
    await world.setSettings(id, 'letters', { sender: 'Ada', token: 'a-secret-token' })
    const bare = await world.request('GET', `/api/v1/agents/${id}/export`)
    expect(dataOf(bare)).toMatchObject({ tools: [{ tool_class: 'letters', settings: {} }] })
    const whole = await world.request('GET', `/api/v1/agents/${id}/export?include_settings=1`)
    expect(dataOf(whole)).toMatchObject({ tools: [{ settings: { sender: 'Ada' } }] })
    expect(whole.text).not.toContain('token')
    expect(whole.text).not.toContain('***')
  })

  it('imported is exported as it was', async () => {
    const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
    const override = fc.record({
      enabled: maybe(fc.boolean()),
      requires_approval: maybe(fc.boolean()),
    })
    const tools = fc.record({
      letters: maybe(
        fc.record({
          enabled: fc.boolean(),
          settings: fc.record(
            {
              sender: fc.stringMatching(/^[a-z" é]{1,9}$/),
              copies: fc.integer(),
              urgent: fc.boolean(),
              boxes: fc.subarray(['in', 'out']),
            },
            { requiredKeys: [] },
          ),
          operations: fc
            .record({ send: maybe(override), draft: maybe(override) })
            .map(overrides =>
              Object.entries(overrides).flatMap(([name, said]) =>
                said ? [{ name, ...said }] : [],
              ),
            ),
        }),
      ),
      time: maybe(fc.record({ enabled: fc.boolean() })),
    })
    const agent = fc.record({
      name: fc.constantFrom('Ada', 'Grace'),
      description: maybe(fc.constantFrom('', 'd')),
      system_prompt: fc.constantFrom('', 'Be brief.'),
      model: fc.constant(model),
      max_steps: fc.integer({ min: 1, max: 100 }),
      max_tokens: maybe(fc.integer({ min: 1, max: 9 })),
      max_cost_usd: maybe(fc.constantFrom(0.5, 3)),
      max_tree_tokens: maybe(fc.integer({ min: 1, max: 9 })),
      max_tree_cost_usd: maybe(fc.constantFrom(0.5, 3)),
      allow_followup: fc.boolean(),
      tool_choice: fc.constantFrom('required', { tool: 'time' }),
    })
    await fc.assert(
      fc.asyncProperty(agent, tools, async (described, chosen) => {
        const body = template({
          agent: described,
          tools: Object.entries(chosen).flatMap(([name, tool]) =>
            tool ? [{ tool_class: name, ...tool }] : [],
          ),
        })
        const first = await exportOf(dataOf<Imported>(await post(body)).agent_id)
        expect(first).toMatchObject({
          ...JSON.parse(JSON.stringify(body)),
          tools: expect.any(Array),
        })
        const second = await exportOf(dataOf<Imported>(await post(first)).agent_id)
        expect(second).toEqual(first)
      }),
      { numRuns: 20 },
    )
  })
})
