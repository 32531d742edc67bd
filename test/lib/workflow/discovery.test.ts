import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { tools as registry } from '../../../functions/tools/index.ts'
import { getAgent } from '../../../lib/agent/agent.ts'
import type { Id } from '../../../lib/core/ids.ts'
import { defineTool, type Tool } from '../../../lib/tool/define.ts'
import { FIND_TOOLS } from '../../../lib/tool/search.ts'
import { readConversation } from '../../../lib/workflow/conversation.ts'
import { MAX_FOUND_TOKENS, MAX_OFFERED_TOKENS, offersOf } from '../../../lib/workflow/discovery.ts'
import { readCatalogue } from '../../../lib/workflow/offer.ts'
import { startWorld, type World } from '../../world.ts'

const NOUNS = [
  'invoice',
  'contact',
  'ticket',
  'shipment',
  'campaign',
  'lead',
  'order',
  'refund',
  'branch',
  'release',
  'incident',
  'meeting',
  'room',
  'budget',
  'contract',
  'licence',
  'device',
  'backup',
  'survey',
  'lesson',
  'patient',
  'recipe',
  'flight',
  'parcel',
  'sensor',
]
const VERBS = [
  'create',
  'read',
  'update',
  'remove',
  'list',
  'search',
  'archive',
  'restore',
  'assign',
  'close',
  'reopen',
  'export',
  'import',
  'tag',
  'merge',
  'split',
  'share',
  'lock',
  'rename',
  'copy',
]

/** Five hundred operations of twenty-five tools. */
const many: Tool[] = NOUNS.map(noun =>
  defineTool({
    name: `${noun}s`,
    description: `Everything about each ${noun} of the company.`,
    operations: Object.fromEntries(
      VERBS.map(verb => [
        verb,
        {
          description: `To ${verb} a ${noun}: it says what was done.`,
          parameters: z.object({
            [`${noun}_id`]: z.string().describe(`Which ${noun} to ${verb}.`),
            note: z.string().max(500).optional().describe('Why, for the log.'),
          }),
          effect: 'read' as const,
          describe: () => `${verb} a ${noun}`,
          execute: () => `${verb} ${noun} done`,
        },
      ]),
    ),
  }),
)

let world: World
let agentId: Id<'agent'>
beforeAll(async () => {
  world = await startWorld(many)
  agentId = await world.createAgent(many.map(({ name }) => name))
})
afterAll(() => world.stop())

const offersIn = async (taskId: Id<'task'>, agent = agentId) =>
  offersOf(
    await readCatalogue(await getAgent(agent), registry, { provider: 'rehearsal' }),
    await readConversation(taskId),
  )

const NOTHING_SAID = { entries: [], calls: new Map(), summaries: [] }
const offersAtFirst = async (agent = agentId) =>
  offersOf(
    await readCatalogue(await getAgent(agent), registry, { provider: 'rehearsal' }),
    NOTHING_SAID,
  )

/** As a provider counts at most: a token has three characters of JSON or more. */
const tokensOf = (tools: unknown[]) => JSON.stringify(tools).length / 3

describe('an agent with five hundred operations', () => {
  it('is offered a search in place of all, within the tokens that it may take', async () => {
    const { forModel } = await offersAtFirst()
    expect(forModel.map(({ name }) => name)).toEqual([FIND_TOOLS])
    expect(forModel[0]?.description).toMatch(/500 operations of 25 tools/)
    expect(forModel[0]?.description).toContain('shipments')
    expect(tokensOf(forModel)).toBeLessThan(MAX_FOUND_TOKENS)
  })

  it('finds what it needs and calls it in the next step', async () => {
    const id = await world.createTask(
      agentId,
      `/${FIND_TOOLS} {"query": "close a ticket"}`,
      '',
      '/tickets close {"ticket_id": "7"}',
    )
    const task = await world.untilTask(id, 'COMPLETED', 'FAILED')
    expect(task).toMatchObject({
      status: 'COMPLETED',
      tool_calls: [
        { tool: FIND_TOOLS, status: 'COMPLETED', description: 'Look for tools: "close a ticket"' },
        { tool: 'tickets', operation: 'close', result: { content: 'close ticket done' } },
      ],
    })
    expect(task.tool_calls[0]?.result?.content).toMatch(/^- tickets \(close\): To close a ticket/m)
    const { forModel } = await offersIn(id)
    expect(forModel.map(({ name }) => name)).toContain('tickets')
    expect(tokensOf(forModel)).toBeLessThan(MAX_FOUND_TOKENS)
  })

  it('keeps within its tokens however often it looks, and drops the oldest first', async () => {
    const lines = NOUNS.slice(0, 9).flatMap(noun => [
      `/${FIND_TOOLS} {"query": "archive or restore a ${noun}", "limit": 10}`,
      '',
    ])
    const long = await world.createAgent(
      many.map(({ name }) => name),
      { max_steps: 20 },
    )
    const id = await world.createTask(long, ...lines)
    await world.untilTask(id, 'COMPLETED')
    const { forModel, named } = await offersIn(id, long)
    expect(tokensOf(forModel)).toBeLessThan(MAX_FOUND_TOKENS)
    const names = forModel.map(({ name }) => name)
    expect(names).toContain(`${NOUNS[8]}s`)
    expect(names).not.toContain(`${NOUNS[0]}s`)
    // What was dropped can still be called by who remembers it.
    expect(named(`${NOUNS[0]}s`)?.tool.name).toBe(`${NOUNS[0]}s`)
  })

  it('may call what it was not offered, if it may call it at all', async () => {
    const id = await world.createTask(
      agentId,
      '/orders {"action": "merge", "order_id": "7"}',
      '/nothing at_all {}',
    )
    const task = await world.untilTask(id, 'COMPLETED', 'FAILED')
    expect(task.tool_calls.map(({ status }) => status)).toEqual(['COMPLETED', 'FAILED'])
  })

  it.each([
    ['{}', '"query": Missing: expected string.'],
    ['{"query": ""}', '"query"'],
    ['{"query": "x", "limit": 11}', '"limit"'],
    ['{"words": "x"}', '"words"'],
  ])('is told what a search with %s lacks', async (json, words) => {
    const task = await world.untilTask(
      await world.createTask(agentId, `/${FIND_TOOLS} ${json}`),
      'COMPLETED',
    )
    expect(task.tool_calls[0]).toMatchObject({ status: 'FAILED', result: { is_error: true } })
    expect(task.tool_calls[0]?.result?.content).toContain(words)
  })

  it('is told when nothing was found', async () => {
    const task = await world.untilTask(
      await world.createTask(agentId, `/${FIND_TOOLS} {"query": "xylophone"}`),
      'COMPLETED',
    )
    expect(task.tool_calls[0]?.result?.content).toMatch(/Nothing was found for "xylophone"/)
  })
})

describe('an agent with a few tools', () => {
  let few: Id<'agent'>
  beforeEach(async () => {
    few = await world.createAgent(many.slice(0, 3).map(({ name }) => name))
  })

  it('is offered them all, and no search', async () => {
    const { forModel, isSearch } = await offersAtFirst(few)
    expect(forModel.map(({ name }) => name).sort()).toEqual(
      many
        .slice(0, 3)
        .map(({ name }) => name)
        .sort(),
    )
    expect(tokensOf(forModel)).toBeLessThan(MAX_OFFERED_TOKENS)
    expect(isSearch(FIND_TOOLS)).toBe(false)
  })

  it('has no search to call', async () => {
    const id = await world.createTask(few, `/${FIND_TOOLS} {"query": "x"}`)
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.tool_calls[0]?.result?.content).toContain(`There is no tool "${FIND_TOOLS}"`)
  })
})

it('no declared tool may have the name of the search', () => {
  const [first] = many
  expect(() =>
    defineTool({ ...(first as never as Parameters<typeof defineTool>[0]), name: FIND_TOOLS }),
  ).toThrow(/choose another/)
})

it('a tool whose schema no wire can carry is one tool less, and its agent’s tasks go on', async () => {
  const [fine, broken] = many as [Tool, Tool]
  const agent = await world.createAgent([fine.name, broken.name])
  const operations = Object.fromEntries(
    Object.entries(broken.operations).map(([name, operation]) => [
      name,
      { ...operation, parameters: z.strictObject({ nothing: z.string().meta({ enum: [] }) }) },
    ]),
  )
  const tools = { ...registry, [broken.name]: async () => ({ tool: { ...broken, operations } }) }
  for (const provider of ['openai', 'google']) {
    const catalogue = await readCatalogue(await getAgent(agent), tools, { provider })
    expect([...catalogue.keys()]).toEqual([fine.name])
  }
  expect(world.logs).toContainEqual(expect.objectContaining({ event: 'tool-not-offered' }))
})
