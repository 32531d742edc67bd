import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../../lib/tool/define.ts'
import { adapt } from '../../../lib/tool/dialect/adapt.ts'
import { toolSchema } from '../../../lib/tool/schema.ts'
import { startWorld, type World } from '../../world.ts'
import { NAMES } from '../llm/server.ts'
import { type Scripted, WIRE_NAMES, WIRES, type WireName } from '../llm/wires.ts'

// A whole task over each provider's real driver and wire: what goes out is the dialect's schema,
// and the arguments that come back in the wire's shape run as the tool declares them.

const ran: unknown[] = []
const operation = {
  description: 'Plan a trip.',
  effect: 'read' as const,
  describe: () => 'Plan',
  execute: ({ parameters }: { parameters: unknown }) => {
    ran.push(parameters)
    return 'planned'
  },
}
const trips = defineTool({
  name: 'trips',
  description: 'Plans trips.',
  operations: {
    plan: {
      ...operation,
      parameters: z.object({
        to: z.string().describe('Where to.'),
        days: z.int().positive(),
        kind: z.literal('round').optional(),
        budget: z.union([z.number(), z.enum(['low', 'high'])]).optional(),
        via: z.array(z.object({ place: z.string(), nights: z.int().default(1) })).optional(),
      }),
    },
    book: {
      ...operation,
      parameters: z.object({ extras: z.record(z.string(), z.int()).optional(), to: z.string() }),
    },
  },
})
const OPERATIONS = Object.values(trips.operations)
const PLAN = { action: 'plan', to: 'Rome', days: 3, via: [{ place: 'Milan' }] }

let world: World
let server: Server
let answers: Scripted[]
let wire: WireName
const bodies: string[] = []
beforeAll(async () => {
  world = await startWorld([trips])
  server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    bodies.push(body)
    const answer = answers.shift() ?? { text: 'Done.', end: 'done' }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(WIRES[wire](answer).join(''))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  for (const name of ['OPENAI', 'ANTHROPIC', 'GOOGLE_GENERATIVE_AI', 'XAI', 'OPENAI_COMPATIBLE'])
    process.env[`${name}_API_KEY`] = 'a-key-for-tests'
})
afterAll(async () => {
  server.close()
  await world.stop()
})
beforeEach(() => {
  ran.length = 0
  bodies.length = 0
})

const taskOver = async (name: WireName, pieces: string[]) => {
  wire = name
  answers = [{ calls: [{ id: 'call_1', name: 'trips', pieces }], end: 'done' }]
  const { port } = server.address() as AddressInfo
  const agent = await world.createAgent(['trips'], {
    model: { provider: name, name: NAMES[name], base_url: `http://127.0.0.1:${port}/v1` },
  })
  return world.untilTask(await world.createTask(agent, 'Plan it.'), 'COMPLETED', 'FAILED')
}

it.each(WIRE_NAMES)('%s is sent its dialect, and its arguments run as declared', async name => {
  const { schema, strict, toWire } = adapt(name, toolSchema(trips, OPERATIONS))
  const task = await taskOver(name, [JSON.stringify(toWire(PLAN))])
  expect(task.tool_calls).toMatchObject([{ tool: 'trips', operation: 'plan', status: 'COMPLETED' }])
  expect(ran).toEqual([{ to: 'Rome', days: 3, via: [{ place: 'Milan', nights: 1 }] }])
  expect(bodies[0]).toContain(JSON.stringify(schema))
  if (strict !== undefined) expect(bodies[0]).toContain(`"strict":${strict}`)
  expect(task.status).toBe('COMPLETED')
})

it.each(WIRE_NAMES)('%s may send the arguments as they are declared, too', async name => {
  await taskOver(name, [JSON.stringify(PLAN)])
  expect(ran).toEqual([{ to: 'Rome', days: 3, via: [{ place: 'Milan', nights: 1 }] }])
})

it.each(WIRE_NAMES)('what %s can’t be told is refused by us, with words to mend it', async name => {
  const task = await taskOver(name, [JSON.stringify({ ...PLAN, days: 0, kind: 'one-way' })])
  expect(ran).toEqual([])
  expect(task.tool_calls[0]?.result?.content).toMatch(/"days": .*>0.*"kind": /s)
})

it('OpenAI’s strict mode is asked for where the schema has its form, and only there', async () => {
  const strictly = (only: string[]) =>
    adapt(
      'openai',
      toolSchema(
        trips,
        OPERATIONS.filter(({ name }) => only.includes(name)),
      ),
    ).strict
  expect(strictly(['plan'])).toBe(true)
  expect(strictly(['book'])).toBe(false)
})
