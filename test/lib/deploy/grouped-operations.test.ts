import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { routeTable } from '../../../functions/routes.ts'
import { tools } from '../../../functions/tools/index.ts'
import { gatewayUse, MAX_GATEWAY_ROUTES } from '../../../lib/deploy/group-routes.ts'
import type { FunctionSpec } from '../../../lib/http/route-table.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { MAX_AWAITED_SECONDS } from '../../../lib/tool/options.ts'
import { currentDocument } from '../../openapi.ts'
import { dataOf, startWorld, type World } from '../../world.ts'
import { actAs, guardClients } from './guard.ts'

/** With the platform's own routes these are past what a gateway takes. */
const PLAIN_OPERATIONS = 180

const ran: string[] = []
const operation = (name: string) => ({
  description: `Do ${name}.`,
  parameters: z.object({ word: z.string() }),
  effect: 'read' as const,
  describe: () => `Do ${name}`,
  execute: async ({ parameters }: { parameters: { word: string } }) => {
    ran.push(name)
    return `${name} ${parameters.word}`
  },
})
const plain = Array.from({ length: PLAIN_OPERATIONS }, (_, index) => `plain_${index}`)
const many = defineTool({
  name: 'many',
  description: 'Has more operations than a gateway has routes for.',
  operations: {
    ...Object.fromEntries(plain.map(name => [name, operation(name)])),
    gated: { ...operation('gated'), requiresApprovalByDefault: true },
    long: { ...operation('long'), timeoutSeconds: MAX_AWAITED_SECONDS + 1 },
    once: { ...operation('once'), effect: 'once', timeoutSeconds: MAX_AWAITED_SECONDS },
  },
})

let specs: Map<string, FunctionSpec>
let world: World
let agent: string
let guard: ReturnType<typeof guardClients>
/** What ran under which function's role, since the last test. */
const events: string[] = []

beforeAll(async () => {
  tools.many = async () => ({ tool: many })
  const table = { ...(await routeTable()), schedules: [] }
  specs = new Map(table.functions.map(spec => [spec.name, spec]))
  world = await startWorld([many], {
    // Each function is loaded by its own name, and so runs under its own role.
    table: { ...table, functions: table.functions.map(spec => ({ ...spec, module: spec.name })) },
    wrap: load => async name => {
      const spec = specs.get(name) as FunctionSpec
      const { handler } = await load(spec.module)
      return {
        handler: (...given) => {
          if (spec.tool === 'many') events.push(name)
          return actAs(spec, () => handler(...given))
        },
      }
    },
  })
  agent = await world.createAgent(['many'])
  guard = guardClients()
})
afterEach(() => {
  events.length = 0
  expect(guard.refused.splice(0)).toEqual([])
})
afterAll(() => world.stop())

const run = (name: string, headers: Record<string, string> = {}) =>
  world.run(agent, `many.${name}`, { word: 'well' }, { headers })

describe('a tool that shares one route among its operations', () => {
  it('is what the table of routes makes of it, and leaves room at the gateway', async () => {
    const table = await routeTable()
    expect(table.routes.filter(({ path }) => path.includes('/many/'))).toEqual([
      {
        method: 'POST',
        path: '/api/v1/tools/many/operations/{operation}',
        functionName: 'tools-many',
      },
    ])
    expect(gatewayUse(table).routes).toBeLessThanOrEqual(MAX_GATEWAY_ROUTES)
    expect(table.functions.filter(({ tool }) => tool === 'many')).toHaveLength(PLAIN_OPERATIONS + 4)
  })

  it('answers a request for each of them', async () => {
    for (const name of plain) {
      const answer = await run(name)
      expect(dataOf<{ content: string }>(answer).content).toBe(`${name} well`)
    }
    expect(new Set(events)).toEqual(new Set(['tools-many']))
    expect(guard.asked()).toBeGreaterThan(PLAIN_OPERATIONS)
  })

  it('runs what people approved by the operation’s own function', async () => {
    const asked = await run('gated')
    expect(asked.status).toBe(202)
    const call = await world.getCall(dataOf<{ call_id: string }>(asked).call_id)
    await world.decide(call, 'approve')
    await world.untilCall(call.id, 'COMPLETED')
    expect(events).toEqual(['tools-many', 'tool-many-gated'])
  })

  it('answers 202 for a long one, which its own function runs', async () => {
    const asked = await run('long')
    expect(asked.status).toBe(202)
    await world.untilCall(dataOf<{ call_id: string }>(asked).call_id, 'COMPLETED')
    expect(events).toEqual(['tools-many', 'tool-many-long'])
  })

  it('runs one with an effect once, however often it is asked with the same key', async () => {
    expect((await run('once')).status).toBe(400)
    const headers = { 'idempotency-key': 'the same' }
    const answers = [await run('once', headers), await run('once', headers)]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const [first, second] = answers.map(answer => dataOf<{ call_id: string }>(answer).call_id)
    expect(second).toBe(first)
    expect(ran.filter(name => name === 'once')).toHaveLength(1)
  })

  it('has tasks run each operation by its own function, short and long', async () => {
    const use = (name: string) => `/many ${name} {"word": "well"}`
    const id = await world.createTask(agent, [use('plain_7'), use('long')].join('\n\n'))
    await world.untilTask(id, 'COMPLETED')
    expect(events).toEqual(['tool-many-plain_7', 'tool-many-long'])
  })

  it('has no operation by another name', async () => {
    const answer = await run('nothing')
    expect(answer.status).toBe(404)
    expect(answer.body.error?.code).toBe('NOT_FOUND')
    const { status } = await world.request('POST', '/api/v1/tools/many/operations/plain_1', {
      body: {},
      key: null,
    })
    expect(status).toBe(401)
  })

  it('looks in the OpenAPI document as any other', async () => {
    const { paths } = await currentDocument()
    const own = Object.keys(paths).filter(path => path.startsWith('/api/v1/tools/many/operations'))
    expect(own).toHaveLength(PLAIN_OPERATIONS + 3)
    expect(own.some(path => path.includes('{'))).toBe(false)
  })
})
