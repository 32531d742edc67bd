import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { tools } from '../../functions/tools/index.ts'
import { defineTool, type Middleware } from '../../lib/tool/define.ts'
import { allTools } from '../../lib/tool/registry.ts'
import { setting } from '../../lib/tool/setting.ts'
import { run } from '../functions/tools/run.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf } from '../world.ts'
import { tool as chart } from './chart.ts'
import { tool as orders } from './orders.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8')

const builtIns = await allTools(tools)

const seesContext: Middleware = context => Object.keys(context)
const context = defineTool({
  name: 'context',
  description: 'Tells what an operation gets.',
  middleware: [seesContext],
  operations: {
    see: {
      description: 'Tell it.',
      parameters: z.object({}),
      effect: 'read',
      describe: () => 'Tell it',
      execute: () => undefined,
    },
  },
})

useWorld([orders, chart, context])

type Ran = { content: string; is_error: boolean; status: string; media?: string[] }
const agentWith = (tool: string) => world.createAgent([tool])

describe('the page on writing a tool', () => {
  const page = read('docs/tools.md')
  const named = (word: string) => page.includes(`\`${word}\``)

  it('shows tools as they are compiled and run here, and a test that passes', () => {
    const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code]) => code)
    const testCode = read('test/docs/orders.test.ts')
      .replace(/import \{ run.*\n/, '')
      .replace(
        "import { tool } from './orders.ts'\n",
        "import { tool } from '../../../functions/tools/orders.ts'\nimport { run } from './run.ts'\n",
      )
    expect(blocks).toEqual([read('test/docs/orders.ts'), read('test/docs/chart.ts'), testCode])
  })

  it('names every option that there is', () => {
    for (const option of Object.keys(orders)) expect(`${option} ${named(option)}`).toMatch(/true$/)
    for (const option of Object.keys(orders.operations.cancel))
      if (option !== 'name') expect(`${option} ${named(option)}`).toMatch(/true$/)
    for (const type of Object.keys(setting)) expect(page).toMatch(new RegExp(`\\b${type}\``))
  })

  it('names every field of what an operation gets', async () => {
    const answer = await world.run(await agentWith('context'), 'context.see')
    const fields: string[] = JSON.parse(dataOf<Ran>(answer).content)
    expect(fields).toContain('parameters')
    for (const field of fields) expect(`${field} ${named(field)}`).toMatch(/true$/)
  })

  it('has an example that does not run before its password is set, or while it is paused', async () => {
    const agentId = await agentWith('orders')
    const lookUp = () => world.run(agentId, 'orders.look_up', { order_id: 'DE123456' })
    expect((await lookUp()).body.error).toMatchObject({ code: 'SETTING_MISSING' })
    await world.setSettings(agentId, 'orders', { api_key: 'a key for tests', paused: true })
    expect((await lookUp()).body.error).toMatchObject({ code: 'TOOL_UNAVAILABLE' })
  })

  it('has an example whose outage is explained by its middleware', async () => {
    const agentId = await agentWith('orders')
    await world.setSettings(agentId, 'orders', { api_key: 'a key for tests' })
    // No name below .example is anyone's.
    const answer = await world.run(agentId, 'orders.look_up', { order_id: 'DE123456' })
    expect(dataOf<Ran>(answer)).toMatchObject({
      is_error: true,
      content: 'The shop does not answer, so "look_up" may not have worked.',
    })
  })

  it('has an example that asks before it cancels', async () => {
    const agentId = await agentWith('orders')
    await world.setSettings(agentId, 'orders', { api_key: 'a key for tests' })
    const answer = await world.run(agentId, 'orders.cancel', { order_id: 'DE123456' })
    expect(dataOf<Ran>(answer)).toMatchObject({
      status: 'PENDING_APPROVAL',
      description: 'Cancel the order DE123456',
    })
  })

  it('has an example whose bytes become an asset of the owner', async () => {
    const answer = await world.run(await agentWith('chart'), 'chart.bars', { heights: [20, 50] })
    const { content, media = [] } = dataOf<Ran>(answer)
    expect(content).toBe('The chart has 2 bars.')
    const asset = await world.request('GET', `/api/v1/assets/${media[0]}`)
    const stored = await world.request('GET', `/api/v1/media/${media[0]}`)
    expect(dataOf(stored)).toMatchObject({ filename: 'bars.svg' })
    expect([200, 302]).toContain(asset.status)
  })
})

describe('the page on built-in tools', () => {
  const page = read('docs/built-in-tools.md')
  const sectionOf = (name: string): string =>
    page.split(/^## /m).find(section => section.startsWith(`\`${name}\``)) ?? ''

  it.each(builtIns)('tells of every operation and setting of $name', tool => {
    const section = sectionOf(tool.name)
    for (const word of [...Object.keys(tool.operations), ...Object.keys(tool.settings)])
      expect(`${word} ${section.includes(`\`${word}\``)}`).toMatch(/true$/)
  })

  it('says what expressions are worth, and they are', async () => {
    const calculator = builtIns.find(({ name }) => name === 'calculator')
    if (!calculator) throw new Error('There is no calculator.')
    const rows = [...sectionOf('calculator').matchAll(/^\| `(.+?)` +\| `(.+?)` +\|$/gm)]
    expect(rows.length).toBeGreaterThan(10)
    for (const [, expression = '', value = ''] of rows)
      expect(await run(calculator, 'calculate', { expression })).toBe(value)
  })
})
