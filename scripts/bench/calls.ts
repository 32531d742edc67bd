import { randomBytes } from 'node:crypto'
import { marshall } from '@aws-sdk/util-dynamodb'
import { Hono } from 'hono'
import * as z from 'zod'
import { type Agent, agentKey } from '../../lib/agent/agent.ts'
import { agentToolKey } from '../../lib/agent/agent-tool.ts'
import { execute } from '../../lib/call/execute.ts'
import { admit } from '../../lib/call/gate.ts'
import type { ToolCall } from '../../lib/call/tool-call.ts'
import { type Id, newId } from '../../lib/core/ids.ts'
import { setLogSink } from '../../lib/core/log.ts'
import { parse } from '../../lib/data/item.ts'
import type { Found } from '../../lib/data/table.ts'
import { createApp } from '../../lib/http/app.ts'
import { KEY_BYTES } from '../../lib/settings/keyring.ts'
import { layerKey } from '../../lib/settings/layer.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'
import { median } from './process.ts'

/** The leanest peer's own loop in process, without a gate: issue 3's bar, in milliseconds. */
export const PEER_LOOP_MS = 0.13

const parameters = z.object({
  query: z.string().min(1).max(1_000),
  limit: z.int().min(1).max(100).default(20),
  filter: z.object({ field: z.string(), values: z.array(z.string()).max(20) }).optional(),
})
const VALUES = { query: 'pears', filter: { field: 'color', values: ['green', 'yellow'] } }
const search = ({ query, limit }: z.output<typeof parameters>) =>
  Array.from({ length: Math.min(limit, 5) }, (_, index) => ({ id: index, title: query }))

const tool = defineTool({
  name: 'bench',
  description: 'Searches.',
  settings: { region: setting.text({ label: 'Region', default: 'eu' }) },
  operations: {
    search: {
      description: 'Search.',
      parameters,
      effect: 'read',
      describe: ({ query }) => `Search for ${query}`,
      execute: ({ parameters }) => search(parameters),
    },
  },
})

const agentId: Id<'agent'> = newId('agent')
const principalId: Id<'user'> = newId('user')
const at = new Date(0).toISOString()
const agent: Agent = {
  id: agentId,
  principalId,
  name: 'Bench',
  systemPrompt: '',
  model: { provider: 'rehearsal', name: 'script' },
  maxSteps: 10,
  maxRetries: 0,
  retryAfterMinutes: 5,
  allowFollowup: true,
  toolChoice: 'auto',
  version: 1,
  createdAt: at,
}

/** The rows that the gate's batched read would bring, each parsed whenever it is asked for. */
const rowsInMemory = (): Found => {
  const rows = [
    [agentKey(agentId), agent],
    [
      agentToolKey(agentId, 'bench'),
      { agentId, tool: 'bench', enabled: true, updatedAt: at, updatedBy: 'bench' },
    ],
    [
      layerKey('bench', principalId),
      { entry_region: { value: 'us', updatedAt: at, updatedBy: 'bench' } },
    ],
  ] as const
  const items = new Map(rows.map(([key, row]) => [`${key.pk} ${key.sk}`, marshall(row)]))
  return {
    get: (schema, key) => {
      const item = items.get(`${key.pk} ${key.sk}`)
      return item && parse(schema, item)
    },
  }
}

const found = rowsInMemory()

/** One call without its network and its rows' writes: gate, validation, run, serialization. */
const runCall = async (values: Record<string, unknown>) => {
  const admission = admit({ agent, tool, operation: 'search', values, found })
  const call = {
    id: newId('call'),
    agentId,
    principalId,
    tool: 'bench',
    operation: 'search',
    meta: {},
  } as unknown as ToolCall
  const outcome = await execute(call, admission)
  if (!('result' in outcome) || outcome.result.isError) throw new Error('The call failed.')
  return outcome.result
}

const PATH = '/api/v1/tools/:tool/operations/:operation'
const request = () =>
  new Request('http://localhost/api/v1/tools/bench/operations/search', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(VALUES),
  })

const bareApp = new Hono().post(PATH, async context => {
  const parsed = parameters.safeParse(await context.req.json())
  if (!parsed.success) return context.json({ error: parsed.error.issues }, 422)
  return context.json({ data: search(parsed.data) })
})
const ownApp = createApp().post(PATH, async context => {
  const { content } = await runCall(await context.req.json())
  return context.json({ data: { content } })
})

/** Milliseconds of one call, by rounds that take turns; the first one only warms up. */
export const measureCalls = async ({ rounds, calls }: { rounds: number; calls: number }) => {
  setLogSink(() => {})
  process.env.ESPALIER_SETTINGS_KEYS ??= `v1:${randomBytes(KEY_BYTES).toString('base64')}`
  const sides = {
    loop: { run: () => runCall(VALUES), samples: [] as number[] },
    own: { run: () => answered(ownApp.request(request())), samples: [] as number[] },
    bare: { run: () => answered(bareApp.request(request())), samples: [] as number[] },
  }
  for (let round = 0; round <= rounds; round++)
    for (const { run, samples } of Object.values(sides)) {
      const started = performance.now()
      for (let call = 0; call < calls; call++) await run()
      if (round > 0) samples.push((performance.now() - started) / calls)
    }
  const [loop, own, bare] = [sides.loop, sides.own, sides.bare].map(({ samples }) =>
    median(samples),
  ) as [number, number, number]
  return {
    loopMs: { own: loop, peer: PEER_LOOP_MS, ratio: loop / PEER_LOOP_MS },
    httpMs: { own, bare, ratio: own / bare },
  }
}

const answered = async (response: Response | Promise<Response>): Promise<void> => {
  const { status } = await response
  if (status !== 200) throw new Error(`The call was answered with ${status}.`)
}
