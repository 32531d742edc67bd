import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { tools } from '../../../functions/tools/index.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { setting } from '../../../lib/tool/setting.ts'
import { ask } from '../../probe.ts'
import { agent, useAgent, world } from '../../use-world.ts'
import { type CallView, dataOf } from '../../world.ts'

const order = {
  description: 'Order parts.',
  parameters: z.object({
    zinc: z.string(),
    amount: z.int().default(1),
    box: z.string().optional(),
  }),
  requiresApprovalByDefault: true,
  describe: () => 'Order',
  execute: () => 'ordered',
}

const shop = defineTool({
  name: 'part_shop',
  displayName: 'The shop',
  description: 'Sells parts.',
  category: 'productivity',
  icon: 'cart',
  recommendsSkills: ['buying'],
  discriminator: 'op',
  settings: { limit: setting.number({ label: 'Limit', default: 5, exposeToLlm: true }) },
  operations: { order, stock: { ...ask, effect: 'read', enabledByDefault: false } },
})
const plain = defineTool({
  name: 'plain_thing',
  description: 'Has neither icon nor name.',
  operations: { ask },
})

useAgent(['part_shop', 'plain_thing'], [shop, plain])

const get = async <T>(path: string) => dataOf<T>(await world.request('GET', `/api/v1${path}`))

describe('the list of tools', () => {
  it('has each tool as it was declared', async () => {
    const row = await get<Record<string, unknown>>('/tools/part_shop')
    expect(row).toMatchObject({
      tool_class: 'part_shop',
      tool_name: 'part_shop',
      display_name: 'The shop',
      description: 'Sells parts.',
      category: 'productivity',
      icon: 'cart',
      recommends_skills: ['buying'],
      operations: [
        {
          name: 'order',
          description: 'Order parts.',
          enabledByDefault: true,
          requiresApprovalByDefault: true,
          discriminatorKey: 'op',
          effect: 'once',
        },
        { name: 'stock', enabledByDefault: false, effect: 'read' },
      ],
      settings: [{ key: 'limit', type: 'number', label: 'Limit', default: 5, expose_to_llm: true }],
    })
    const listed = await get<Record<string, unknown>[]>('/tools')
    expect(listed.find(tool => tool.tool_name === 'part_shop')).toEqual(row)
    expect(listed.map(tool => tool.tool_name)).toEqual(Object.keys(tools))
  })

  it('has defaults for what was left out', async () => {
    expect(await get('/tools/plain_thing')).toMatchObject({
      display_name: 'Plain thing',
      category: 'general',
      icon: null,
      recommends_skills: [],
      settings: [],
    })
  })

  it('is shorter where one category is asked for', async () => {
    const listed = await get<{ tool_name: string; category: string }[]>('/tools?category=general')
    expect(listed.map(tool => tool.tool_name)).toContain('plain_thing')
    expect(new Set(listed.map(tool => tool.category))).toEqual(new Set(['general']))
    expect((await world.request('GET', '/api/v1/tools?category=none')).status).toBe(400)
  })

  it.each(['nothing', 'constructor', '__proto__'])('has no %s', async name => {
    expect((await world.request('GET', `/api/v1/tools/${name}`)).status).toBe(404)
  })
})

it('an agent’s tools have names and icons', async () => {
  const { tools: own } = await get<{ tools: unknown[] }>(`/agents/${agent}`)
  expect(own).toMatchObject([
    { tool: 'part_shop', display_name: 'The shop', icon: 'cart' },
    { tool: 'plain_thing', display_name: 'Plain thing', icon: null },
  ])
})

describe('a tool call', () => {
  type Shown = CallView & { icon: string | null; parameter_schema: { properties: object } | null }
  let task: string
  beforeAll(async () => {
    task = await world.createTask(agent, '/part_shop order {"zinc":"1"}')
    await world.untilApproval(task)
  })

  const shown = async (): Promise<Shown[]> => {
    const [waiting] = await world.approvals()
    const { tool_calls } = await world.getTask(task)
    return [waiting, ...tool_calls, await world.getCall(waiting?.id ?? '')] as Shown[]
  }

  it('has its tool’s icon, and its parameters in the order of their declaration', async () => {
    const calls = await shown()
    expect(calls).toHaveLength(3)
    for (const { icon, parameter_schema } of calls) {
      expect(icon).toBe('cart')
      expect(Object.keys(parameter_schema?.properties ?? {})).toEqual(['zinc', 'amount', 'box'])
    }
  })

  it('has neither once its tool is gone', async () => {
    const { part_shop: load } = tools
    delete tools.part_shop
    try {
      for (const { icon, parameter_schema } of await shown())
        expect({ icon, parameter_schema }).toEqual({ icon: null, parameter_schema: null })
      const { tools: own } = await get<{ tools: unknown[] }>(`/agents/${agent}`)
      expect(own[0]).toMatchObject({ tool: 'part_shop', display_name: 'part_shop', icon: null })
    } finally {
      if (load) tools.part_shop = load
    }
  })
})
