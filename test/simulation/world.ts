import { readdirSync } from 'node:fs'
import path from 'node:path'
import { routeTable } from '../../functions/routes.ts'
import { tools } from '../../functions/tools/index.ts'
import { setLogSink } from '../../lib/core/log.ts'
import type { Route, Schedule } from '../../lib/http/route-table.ts'
import { serve } from '../../lib/http/serve.ts'
import { FUNCTION_PREFIX, setEnvironment } from '../../lib/local/environment.ts'
import { ensureAdmin } from '../../lib/local/first-admin.ts'
import { definition } from '../../lib/workflow/definition.ts'
import { loadFunction } from '../../scripts/load-function.ts'
import { replaceClients } from './aws.ts'
import { createClock } from './clock.ts'
import { setCurrentRun } from './current.ts'
import type { Handler, Loaded } from './functions.ts'
import { setClock } from './globals.ts'
import { ADMIN_KEY, answerOf, createGateway } from './http.ts'
import { probe } from './probe.ts'
import { createRandom } from './random.ts'
import type { Run } from './run.ts'
import type { Definition } from './states.ts'
import { createFakeTable, type FakeTable } from './table.ts'

const ROOT = path.join(import.meta.dirname, '../..')

/** Tools that a simulated agent has no use for: what they do touches no task. */
const LEFT_OUT = ['time', 'calculator', 'read_url', 'user_info', 'tool_results', 'media', 'agent']
/** Before any run begins. */
const SET_UP_AT = Date.parse('2029-12-01T00:00:00.000Z')
const AGENTS = 3
const MAX_STEPS = 8

export type World = {
  functions: Map<string, Loaded>
  routes: Route[]
  schedules: Schedule[]
  definition: Definition
  agents: string[]
  /** All that is stored before a run begins. */
  table: FakeTable
}

/** All that runs have in common, made once in a process: the functions, and what people set up. */
export const createWorld = async (): Promise<World> => {
  setEnvironment({ dynamodb: '', s3: '', lambda: '', stepFunctions: '', ses: '' }, secrets())
  replaceClients()
  tools[probe.name] = async () => ({ tool: probe })
  await loadAll()
  const { functions: specs, routes, schedules } = await routeTable()
  const functions = new Map<string, Loaded>()
  for (const spec of specs) {
    const handler: Handler =
      spec.tool === probe.name ? serve(probe) : (await loadFunction(spec.module)).handler
    functions.set(spec.name, { spec, handler })
  }
  const table = createFakeTable()
  const machine = { answers: {} }
  const mishaps = { happens: () => false }
  setCurrentRun({ table, machine, mishaps, objects: new Map() } as never as Run)
  setClock(createClock(SET_UP_AT, createRandom(0)))
  const restored = setLogSink(() => {})
  const agents = await setUp(functions, routes)
  setLogSink(restored)
  setClock(undefined)
  return {
    functions,
    routes,
    schedules,
    definition: definition({
      tick: `${FUNCTION_PREFIX}tick`,
      park: `${FUNCTION_PREFIX}park`,
    }) as never,
    agents,
    table,
  }
}

/** Those that anyone would make in the same way: nothing here is kept, and nothing is secret. */
const secrets = () => {
  const keys = `1:${Buffer.alloc(32, 7).toString('base64')}`
  return {
    accessKeyId: 'simulation',
    secretAccessKey: 'simulation',
    settingsKeys: keys,
    linkKeys: keys,
  } as Parameters<typeof setEnvironment>[1]
}

/** What a handler would load as it runs takes real time: a run must not wait for that. */
const loadAll = async (): Promise<void> => {
  const own = /^(lib|functions)\/(?!local\/|llm\/(openai|anthropic|google|xai)|web\/page\/).*\.ts$/
  for (const folder of ['lib', 'functions'])
    for (const entry of readdirSync(path.join(ROOT, folder), { recursive: true })) {
      const file = path.posix.join(folder, String(entry))
      if (own.test(file)) await import(path.join(ROOT, file))
    }
}

const setUp = async (functions: World['functions'], routes: Route[]): Promise<string[]> => {
  await ensureAdmin(ADMIN_KEY)
  const gateway = createGateway(routes)
  const request = async (method: string, path: string, body?: unknown) => {
    const found = gateway({ method, path, body }, Date.now())
    if (!found) throw new Error(`There is no route ${method} ${path}.`)
    const loaded = functions.get(found.functionName)
    const answer = answerOf(await loaded?.handler(found.event as never, {} as never))
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer.data as { id: string }
  }
  const names = Object.keys(tools).filter(name => !LEFT_OUT.includes(name))
  const agents: string[] = []
  for (let index = 0; index < AGENTS; index++) {
    const model = { provider: 'rehearsal', name: 'script' }
    const body = { name: `Agent ${index}`, model, max_steps: MAX_STEPS, allow_followup: true }
    agents.push((await request('POST', '/api/v1/agents', body)).id)
  }
  for (const [index, agent] of agents.entries())
    for (const name of names) {
      const place = `/api/v1/agents/${agent}/tools/${name}`
      await request('POST', `${place}/enable`)
      const { tool } = (await tools[name]?.()) ?? {}
      if ('allowed_target_agents' in (tool?.settings ?? {}))
        await request('PUT', `${place}/settings`, {
          allowed_target_agents: agents.filter(other => other !== agent),
        })
      // The last agent asks people first, as tools say; the others ask nobody but for the probe.
      if (index === agents.length - 1 || name === probe.name) continue
      for (const operation of Object.keys(tool?.operations ?? {}))
        await request('PATCH', `${place}/operations/${operation}`, { requires_approval: false })
    }
  return agents
}
