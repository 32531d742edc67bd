import { expect, test } from 'vitest'
import * as z from 'zod'
import { findAgent } from '../../../lib/agent/agent.ts'
import { listAgentTools } from '../../../lib/agent/agent-tool.ts'
import { createAgent } from '../../../lib/agent/create-agent.ts'
import {
  MAX_TEMPLATE_BYTES,
  MAX_TEMPLATE_TOOLS,
  MAX_TEMPLATE_WRITES,
  planTemplate,
  type TemplateTool,
} from '../../../lib/agent/template.ts'
import { newId } from '../../../lib/core/ids.ts'
import { createConfiguration } from '../../../lib/llm/configuration.ts'
import { createGroup, getGroup } from '../../../lib/principal/group.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import type { ToolRegistry } from '../../../lib/tool/registry.ts'
import { MAX_VALUE_CHARS, setting } from '../../../lib/tool/setting.ts'
import { agent as row } from '../../agent-row.ts'
import { useLocalTable } from '../../local-table.ts'

useLocalTable()

const author = { by: newId('user') }
const KEYS = Array.from({ length: 3 }, (_, index) => `key_${index}`)

const registry: ToolRegistry = Object.fromEntries(
  Array.from({ length: MAX_TEMPLATE_TOOLS + 1 }, (_, index) => {
    const name = `tool_${index}`
    const tool = defineTool({
      name,
      description: 'x',
      settings: Object.fromEntries(KEYS.map(key => [key, setting.text({ label: key })])),
      operations: {
        go: { description: 'x', parameters: z.object({}), describe: () => 'x', execute: () => 'x' },
      },
    })
    return [name, async () => ({ tool })]
  }),
)

const entries = (count: number, withSettings = 0): TemplateTool[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    enabled: true,
    operations: [],
    settings: index < withSettings ? { key_0: 'x' } : {},
  }))

/** An agent that costs as many writes as any: a group's, with an LLM configuration. */
const costlyAgent = async () => {
  const group = newId('group')
  await createGroup({ id: group, name: 'G' }, { ownerId: newId('user') })
  const { configuration } = await createConfiguration(
    {
      id: newId('llm'),
      owner: 'global',
      requestHash: 'x',
      name: 'C',
      provider: 'rehearsal',
      model: 'script',
    },
    { ...author, auditOwner: 'instance', isAdmin: true },
  )
  const model = { llmConfigurationId: configuration.id }
  return { ...row, id: newId('agent'), principalId: group, model }
}

const run = async (tools: TemplateTool[]) => {
  const agent = await costlyAgent()
  const plan = await planTemplate({ tools, requiredPlugins: [] }, { agent, registry, author })
  await createAgent(agent, author, { more: plan.writes })
  return agent
}

test(`a template of ${MAX_TEMPLATE_TOOLS} tools is imported in one transaction, and no larger one`, async () => {
  const room = MAX_TEMPLATE_WRITES - MAX_TEMPLATE_TOOLS
  const agent = await run(entries(MAX_TEMPLATE_TOOLS, room))
  expect(await listAgentTools(agent.id)).toHaveLength(MAX_TEMPLATE_TOOLS)
  expect((await getGroup(agent.principalId)).agents).toBe(1)
  await expect(run(entries(MAX_TEMPLATE_TOOLS + 1))).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining(`at most ${MAX_TEMPLATE_TOOLS}`),
  })
})

test('settings take room beside tools', async () => {
  const room = MAX_TEMPLATE_WRITES - MAX_TEMPLATE_TOOLS
  await expect(run(entries(MAX_TEMPLATE_TOOLS, room + 1))).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining(`at most ${MAX_TEMPLATE_WRITES}`),
  })
})

test('settings of so many bytes fit, and no more', async () => {
  const withBytes = (bytes: number): TemplateTool[] => {
    const tools = entries(47).map(tool => ({
      ...tool,
      settings: Object.fromEntries(KEYS.map(key => [key, 'x'.repeat(7_000)])) as Record<
        string,
        string
      >,
    }))
    const size = () => JSON.stringify(tools.map(({ settings }) => settings)).length
    for (const tool of tools)
      for (const key of KEYS) {
        const text = tool.settings[key] ?? ''
        const more = Math.min(bytes - size(), MAX_VALUE_CHARS - text.length)
        tool.settings[key] = more > 0 ? text + 'x'.repeat(more) : text
      }
    expect(size()).toBe(bytes)
    return tools
  }
  const agent = await run(withBytes(MAX_TEMPLATE_BYTES))
  expect(await findAgent(agent.id)).toBeDefined()
  await expect(run(withBytes(MAX_TEMPLATE_BYTES + 1))).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining(`${MAX_TEMPLATE_BYTES + 1} bytes`),
  })
})
