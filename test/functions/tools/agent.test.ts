import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { MAX_NOTE_CHARS } from '../../../lib/agent/limits.ts'
import type { Id } from '../../../lib/core/ids.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { setting } from '../../../lib/tool/setting.ts'
import { type CallView, dataOf, snapshot, startWorld, type World } from '../../world.ts'

const shop = defineTool({
  name: 'shop',
  description: 'Sells things.',
  icon: 'cart',
  settings: {
    api_key: setting.password({ label: 'Key', required: true }),
    region: setting.select({ label: 'Region', options: ['eu', 'us'], default: 'eu' }),
    helpers: setting.multiSelect({ label: 'Helpers', resolveAs: 'agent' }),
  },
  operations: {
    look: {
      description: 'Look around.',
      parameters: z.object({}),
      effect: 'read',
      describe: () => 'Look',
      execute: ({ settings }) => settings.region,
    },
    buy: {
      description: 'Buy something.',
      parameters: z.object({}),
      enabledByDefault: false,
      requiresApprovalByDefault: true,
      describe: () => 'Buy',
      execute: () => 'bought',
    },
  },
})

let world: World
let builder: Id<'agent'>
beforeAll(async () => {
  world = await startWorld([shop])
})
afterAll(() => world.stop())
beforeEach(async () => {
  builder = await world.createAgent(['agent', 'time'])
  // What the operations do is what is looked at here; that they ask first is told below.
  for (const operation of ['create_agent', 'configure_tools', 'update_agent'])
    await world.override(builder, `agent.${operation}`, { requires_approval: false })
})

type Answer = { is_error: boolean; content: string; status: string; call_id: string }
let count = 0
const run = async (operation: string, body: object = {}, agent = builder): Promise<Answer> =>
  dataOf(
    await world.run(agent, `agent.${operation}`, body, {
      headers: { 'idempotency-key': `agent-${count++}` },
    }),
  )
const answer = async <T>(operation: string, body: object = {}): Promise<T> => {
  const { is_error, content } = await run(operation, body)
  if (is_error) throw new Error(content)
  return JSON.parse(content) as T
}

const make = async (): Promise<Id<'agent'>> =>
  (await answer<{ agent_id: Id<'agent'> }>('create_agent', { name: 'Child', system_prompt: 'Be.' }))
    .agent_id

type Manifest = {
  agent_id: string
  tools: {
    tool_class: string
    icon: string | null
    enabled: boolean
    operations: { name: string; enabled: boolean; requires_approval: boolean }[]
  }[]
}
const configure = (agent_id: string, ...tools: object[]) =>
  run('configure_tools', { agent_id, tools })
const shopOf = async (id: string) =>
  (await answer<Manifest>('read_agent', { agent_id: id })).tools.find(
    ({ tool_class }) => tool_class === 'shop',
  )

describe('an agent that is made', () => {
  it('may spend no more than whoever made it', async () => {
    const limits = {
      max_tokens: 5_000,
      max_cost_usd: 0.5,
      max_tree_tokens: 9_000,
      max_tree_cost_usd: 2,
    }
    const headers = { 'if-match': '*' }
    dataOf(await world.request('PATCH', `/api/v1/agents/${builder}`, { body: limits, headers }))
    const made = await world.request('GET', `/api/v1/agents/${await make()}`)
    expect(dataOf(made)).toMatchObject(limits)
  })
})

describe('get_available_tools', () => {
  it('tells every tool by version 2 of its contract, and no value of a setting', async () => {
    const { version, count, tools, skills } = await answer<{
      version: number
      count: number
      tools: Record<string, unknown>[]
      skills: unknown
    }>('get_available_tools')
    expect({ version, skills }).toEqual({ version: 2, skills: { allowed: [], visible: [] } })
    expect(count).toBe(tools.length)
    expect(tools.find(({ tool_class }) => tool_class === 'shop')).toEqual({
      tool_class: 'shop',
      display_name: 'Shop',
      description: 'Sells things.',
      plugin_slug: null,
      enabled: false,
      ready_to_enable: false,
      missing_required: ['api_key'],
      operations: [
        { name: 'look', description: 'Look around.', enabled: true, requires_approval: false },
        { name: 'buy', description: 'Buy something.', enabled: false, requires_approval: true },
      ],
    })
    expect(tools.find(({ tool_class }) => tool_class === 'time')).toMatchObject({
      enabled: true,
      ready_to_enable: true,
    })
  })
})

describe('create_agent', () => {
  it('makes an agent of the same owner and model, without tools', async () => {
    const id = await make()
    expect(dataOf(await world.request('GET', `/api/v1/agents/${id}`))).toMatchObject({
      name: 'Child',
      system_prompt: 'Be.',
      model: { provider: 'rehearsal' },
      tools: [],
    })
    expect(await answer<Manifest>('read_agent', { agent_id: id })).toMatchObject({
      agent_id: id,
      tools: [],
    })
  })

  it('made by a task that was run twice, it is one agent', async () => {
    const line = '/agent create_agent {"name": "Once", "system_prompt": "Be."}'
    const task = await world.untilTask(await world.createTask(builder, line), 'COMPLETED')
    const made = JSON.parse(task.tool_calls[0]?.result?.content ?? '')
    expect(dataOf(await world.request('GET', `/api/v1/agents/${made.agent_id}`))).toMatchObject({
      name: 'Once',
    })
  })

  it.each([
    ['a nested agent', { agent: { name: 'X', system_prompt: 'Y' } }, /"agent".*\{"name": "Writer"/],
    ['tools', { name: 'X', system_prompt: 'Y', tools: [] }, /"tools".*configure_tools afterwards/],
    ['a colour', { name: 'X', system_prompt: 'Y', colour: 1 }, /"colour".*there are: name/],
    ['too many steps', { name: 'X', system_prompt: 'Y', max_steps: 101 }, /"max_steps".*<=100/],
  ])('refuses %s, and says what to send', async (_, body, message) => {
    const refusal = await world.run(builder, 'agent.create_agent', body)
    expect(refusal.status).toBe(422)
    expect(refusal.body.error?.message).toMatch(message)
  })

  it('asks a person first, unless an operator lifted that', async () => {
    const careful = await world.createAgent(['agent'])
    const asked = await run('create_agent', { name: 'X', system_prompt: 'Y' }, careful)
    expect(asked.status).toBe('PENDING_APPROVAL')
  })
})

describe('configure_tools', () => {
  it('enables, overrides and sets, and leaves alone what is left out', async () => {
    const id = await make()
    const result = await configure(id, {
      tool_class: 'shop',
      enabled: true,
      settings: { region: 'us' },
      operations: [{ name: 'buy' }],
    })
    expect(JSON.parse(result.content).tools).toEqual([
      {
        tool_class: 'shop',
        icon: 'cart',
        enabled: true,
        operations: [
          { name: 'look', enabled: true, requires_approval: false },
          { name: 'buy', enabled: true, requires_approval: true },
        ],
      },
    ])
    const settings = dataOf<{ settings: Record<string, object> }>(
      await world.request('GET', `/api/v1/agents/${id}/tools/shop/settings`),
    ).settings
    expect(settings.region).toMatchObject({ value: 'us', source: 'agent', updated_by: builder })
    await configure(id, { tool_class: 'shop', operations: [{ name: 'look', enabled: false }] })
    expect(await shopOf(id)).toMatchObject({
      enabled: true,
      operations: [{ enabled: false }, { enabled: true }],
    })
  })

  it.each<[string, unknown, boolean]>([
    ['false disables', false, false],
    ['a blank leaves alone', '', true],
  ])('of a tool, %s', async (_, enabled, expected) => {
    const id = await make()
    await configure(id, { tool_class: 'shop', enabled: true })
    await configure(id, { tool_class: 'shop', enabled, operations: [{ name: 'look' }] })
    expect(await shopOf(id)).toMatchObject({ enabled: expected })
  })

  it('replaces a setting whole, and lets it inherit again by null', async () => {
    const id = await make()
    const helper = await make()
    const other = await make()
    const helpers = async () =>
      dataOf<{ settings: { helpers: { value: unknown } } }>(
        await world.request('GET', `/api/v1/agents/${id}/tools/shop/settings`),
      ).settings.helpers.value
    await configure(id, { tool_class: 'shop', settings: { helpers: [helper, other] } })
    await configure(id, { tool_class: 'shop', settings: { helpers: [other] } })
    expect(await helpers()).toEqual([other])
    await configure(id, { tool_class: 'shop', settings: { helpers: null } })
    expect(await helpers()).toBeNull()
  })

  it.each<[string, object[], RegExp]>([
    [
      'an unknown tool',
      [{ tool_class: 'shop', enabled: true }, { tool_class: 'nope' }],
      /no tool: "nope"/,
    ],
    [
      'an unknown setting',
      [{ tool_class: 'shop', enabled: true, settings: { regoin: 'eu' } }],
      /regoin.*api_key, region/,
    ],
    [
      'a credential',
      [{ tool_class: 'shop', enabled: true, settings: { api_key: 'canary-4711' } }],
      /credential/,
    ],
    [
      'a value that is no option',
      [{ tool_class: 'shop', enabled: true, settings: { region: 'mars' } }],
      /eu, us/,
    ],
    [
      'an unknown operation',
      [{ tool_class: 'shop', enabled: true, operations: [{ name: 'sell' }] }],
      /look, buy/,
    ],
    [
      'a stranger’s id',
      [
        {
          tool_class: 'shop',
          enabled: true,
          settings: { helpers: ['agent_01ARZ3NDEKTSV4RRFFQ69G5FAV'] },
        },
      ],
      /not there/,
    ],
    [
      'ids that are none',
      [{ tool_class: 'shop', enabled: true, settings: { helpers: [7] } }],
      /list of texts/,
    ],
    [
      'one tool twice',
      [{ tool_class: 'shop', enabled: true }, { tool_class: 'shop' }],
      /stands twice/,
    ],
    [
      'an approval that it would lift by itself',
      [{ tool_class: 'shop', enabled: true, operations: [{ name: 'buy', auto_approve: true }] }],
      /only if a person has approved this very call/,
    ],
  ])('refuses %s whole, before any write', async (_, tools, message) => {
    const id = await make()
    const before = await snapshot()
    const refusal = await configure(id, ...tools)
    expect(refusal).toMatchObject({ is_error: true, content: expect.stringMatching(message) })
    const changed = Object.keys(await snapshot()).filter(key => !(key in before))
    expect(changed.filter(key => !key.startsWith('call_'))).toEqual([])
    expect(await shopOf(id)).toBeUndefined()
  })

  it('tells all that is wrong at once', async () => {
    const { content } = await configure(
      await make(),
      { tool_class: 'nope' },
      { tool_class: 'shop', settings: { api_key: 'x' }, operations: [{ name: 'sell' }] },
    )
    for (const words of ['no tool', 'credential', 'no operation']) expect(content).toContain(words)
  })

  it('lifts an approval where a person approved the call that does', async () => {
    const id = await make()
    await world.override(builder, 'agent.configure_tools', { requires_approval: null })
    const tools = [{ tool_class: 'shop', operations: [{ name: 'buy', auto_approve: true }] }]
    const { call_id } = await configure(id, ...tools)
    const call = dataOf<CallView>(await world.request('GET', `/api/v1/tool-calls/${call_id}`))
    dataOf(await world.decide(call, 'approve'))
    await world.untilCall(call_id, 'COMPLETED')
    expect(await shopOf(id)).toMatchObject({
      operations: [{}, { name: 'buy', enabled: true, requires_approval: false }],
    })
  })
})

describe('what an agent may not', () => {
  it.each(['configure_tools', 'update_agent'])('%s of itself', async operation => {
    const refusal = await run(operation, {
      agent_id: builder,
      ...(operation === 'configure_tools'
        ? { tools: [{ tool_class: 'shop' }] }
        : { max_steps: 100 }),
    })
    expect(refusal).toMatchObject({ is_error: true, content: expect.stringMatching(/itself/) })
  })

  it('change one that it did not make, nor see one of another owner', async () => {
    const other = await world.createAgent(['time'])
    expect((await configure(other, { tool_class: 'shop', enabled: true })).content).toMatch(
      /only agents that you made/,
    )
    const { key } = await world.createPerson()
    const foreign = await world.createAgent([], { key })
    for (const [operation, more] of [
      ['read_agent', {}],
      ['update_agent', { name: 'X' }],
      ['configure_tools', { tools: [{ tool_class: 'shop' }] }],
    ] as const)
      expect((await run(operation, { agent_id: foreign, ...more })).content).toMatch(
        /There is no agent/,
      )
  })
})

it('update_agent changes what it names of an agent that it made', async () => {
  const id = await make()
  await answer('update_agent', { agent_id: id, name: 'Grown', max_steps: 3 })
  expect(dataOf(await world.request('GET', `/api/v1/agents/${id}`))).toMatchObject({
    name: 'Grown',
    max_steps: 3,
    system_prompt: 'Be.',
  })
})

describe('notes', () => {
  it('are the agent’s own, and are added to', async () => {
    await run('write_notes', { text: 'First.' })
    await run('write_notes', { text: 'Second.' })
    const notes = await answer<{ text: string }[]>('read_notes')
    expect(notes.map(({ text }) => text)).toEqual(['First.', 'Second.'])
    const other = await world.createAgent(['agent'])
    expect((await run('read_notes', {}, other)).content).toBe('[]')
  })

  it('are overwritten only where an operator allows it', async () => {
    const refused = await world.run(builder, 'agent.write_notes_overwrite', { text: 'X' })
    expect(refused.body.error?.code).toBe('OPERATION_DISABLED')
    await world.override(builder, 'agent.write_notes_overwrite', {
      enabled: true,
      requires_approval: false,
    })
    await run('write_notes', { text: 'First.' })
    await run('write_notes_overwrite', { text: 'All.' })
    expect((await answer<{ text: string }[]>('read_notes')).map(({ text }) => text)).toEqual([
      'All.',
    ])
  })

  it('have a length', async () => {
    expect(await run('write_notes', { text: 'x'.repeat(MAX_NOTE_CHARS) })).toMatchObject({
      is_error: false,
    })
    const longer = { text: 'x'.repeat(MAX_NOTE_CHARS + 1) }
    expect((await world.run(builder, 'agent.write_notes', longer)).status).toBe(422)
  })
})
