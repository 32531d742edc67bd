import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { type Agent, agentKey } from '../../../lib/agent/agent.ts'
import { agentToolKey } from '../../../lib/agent/agent-tool.ts'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { scopeOf } from '../../../lib/call/gate.ts'
import { newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { ownersOf } from '../../../lib/settings/layer.ts'
import { writeLayer } from '../../../lib/settings/write.ts'
import { defineTool, type Tool } from '../../../lib/tool/define.ts'
import { setting } from '../../../lib/tool/setting.ts'
import { readCatalogue } from '../../../lib/workflow/offer.ts'
import { agent as example } from '../../agent-row.ts'
import { useLocalTable } from '../../local-table.ts'

useLocalTable()

const TOOLS = 60
const SETTINGS = 10
/** The design's bound: one query a layer. */
const MAX_ROUNDS = 4

const agent: Agent = { ...example, id: newId('agent') }
const helper: Agent = { ...example, id: newId('agent'), name: 'Helper' }

const tools = Array.from(
  { length: TOOLS },
  (_, index): Tool =>
    defineTool({
      name: `tool_${index}`,
      description: 'One of many.',
      settings: {
        ...Object.fromEntries(
          Array.from({ length: SETTINGS - 1 }, (_, at) => [
            `key_${at}`,
            setting.text({ label: `Label ${at}`, exposeToLlm: true }),
          ]),
        ),
        helpers: setting.multiSelect({ label: 'Helpers', resolveAs: 'agent', exposeToLlm: true }),
      },
      operations: {
        go: {
          description: 'Go.',
          parameters: z.object({}),
          describe: () => 'Go',
          execute: () => 1,
        },
      },
    }),
)
const registry = Object.fromEntries(tools.map(tool => [tool.name, async () => ({ tool })]))

beforeAll(async () => {
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', `v1:${randomBytes(32).toString('base64')}`)
  for (const row of [agent, helper]) await table.insert(z.any(), row, { key: agentKey(row.id) })
  const scope = scopeOf(agent)
  const scopes = [{}, { principalId: scope.principalId }, scope]
  expect(scopes).toHaveLength(ownersOf(scope).length)
  for (const tool of tools) {
    await table.update(
      z.unknown(),
      agentToolKey(agent.id, tool.name),
      {
        set: {
          agentId: agent.id,
          tool: tool.name,
          enabled: true,
          updatedAt: agent.createdAt,
          updatedBy: 'x',
        },
      },
      { create: true },
    )
    for (const [layer, at] of scopes.entries())
      await writeLayer(
        tool,
        at,
        {
          ...Object.fromEntries(
            Array.from({ length: SETTINGS - 1 }, (_, key) => [`key_${key}`, `layer ${layer}`]),
          ),
          helpers: [helper.id],
        },
        { by: 'user_1', readAgents: async ids => new Map(ids.map(id => [id, helper])) },
      )
  }
}, 60_000)

test(`a tick reads ${TOOLS} tools with ${TOOLS * SETTINGS} settings in at most ${MAX_ROUNDS} rounds`, async () => {
  const watch = watchRequests()
  const catalogue = await readCatalogue(agent, registry, { provider: 'openai' })
  watch.stop()
  expect(catalogue.size).toBe(TOOLS)
  const [first] = catalogue.values()
  expect(first?.whole.forModel.description).toContain('- Label 8: layer 2')
  expect(first?.whole.forModel.description).toContain(`- Helpers: Helper (${helper.id})`)
  // The agent's tools; their settings, a hundred rows a batch side by side; the agents they name.
  expect(watch.sent()).toEqual([
    'QueryCommand',
    'BatchGetItemCommand',
    'BatchGetItemCommand',
    'BatchGetItemCommand',
  ])
  expect(watch.rounds()).toBe(3)
  expect(watch.rounds()).toBeLessThanOrEqual(MAX_ROUNDS)
})

/** What is sent, and in how many rounds: a request that goes out while another is under way adds none. */
const watchRequests = () => {
  const sent: string[] = []
  let rounds = 0
  let open = 0
  dynamodb().middlewareStack.add(
    (next, context) => async args => {
      sent.push(context.commandName ?? '')
      if (open === 0) rounds += 1
      open += 1
      try {
        return await next(args)
      } finally {
        open -= 1
      }
    },
    { step: 'initialize', name: 'watch-requests' },
  )
  return {
    sent: () => sent,
    rounds: () => rounds,
    stop: () => dynamodb().middlewareStack.remove('watch-requests'),
  }
}
