import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { handler as sweep } from '../../functions/workflow/sweep.ts'
import { type LogEntry, setLogSink } from '../../lib/core/log.ts'
import { dueIndex } from '../../lib/data/due.ts'
import * as table from '../../lib/data/table.ts'
import { Task, taskKey } from '../../lib/task/task.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'
import { startReceiver } from '../lib/notification/subscribed.ts'
import { localModel, say, useModelServer } from '../lib/workflow/model-server.ts'
import { dataOf, startWorld, until, type World } from '../world.ts'

const PROMPT = 'canary-prompt-4711'
const ARGUMENT = 'canary-argument-4711'
const SETTING = 'canary-setting-4711'
const SECRET = 'canary-secret-4711'
const RESULT = 'canary-result-4711'
const NAME = 'canary-name-4711'
const TOOL_NAME = 'canary_tool_4711'
const CANARIES = [PROMPT, ARGUMENT, SETTING, SECRET, RESULT, NAME, TOOL_NAME]

const probe = defineTool({
  name: 'probe',
  description: 'Does what a job may come to.',
  settings: {
    plain: setting.text({ label: 'Plain' }),
    secret: setting.password({ label: 'Secret' }),
  },
  operations: {
    ask: {
      description: 'Ask first.',
      parameters: z.object({ text: z.string() }),
      requiresApprovalByDefault: true,
      describe: ({ text }) => `Ask ${text}`,
      execute: async () => RESULT,
    },
    long: {
      description: 'Takes longer than anyone awaits.',
      parameters: z.object({ text: z.string() }),
      effect: 'read',
      timeoutSeconds: 60,
      describe: ({ text }) => `Take long for ${text}`,
      execute: async () => RESULT,
    },
    fail: {
      description: 'Fails.',
      parameters: z.object({ text: z.string() }),
      effect: 'read',
      describe: ({ text }) => `Fail at ${text}`,
      execute: async ({ settings }) => {
        throw new Error(`${RESULT} ${settings.secret}`)
      },
    },
  },
})

useModelServer()

/** A line with the function that wrote it; what the local runner writes by itself has none. */
type Line = LogEntry & { by: string | undefined }

const running = new AsyncLocalStorage<string>()
const lines: Line[] = []
let world: World
let receiver: Awaited<ReturnType<typeof startReceiver>>

beforeAll(async () => {
  receiver = await startReceiver()
  vi.stubEnv('ESPALIER_FETCH_ALLOW', receiver.host)
  vi.stubEnv('ESPALIER_LOG_LEVEL', 'debug')
  world = await startWorld([probe], {
    wrap: load => async module => {
      const { handler } = await load(module)
      return { handler: (event, context) => running.run(module, () => handler(event, context)) }
    },
  })
  setLogSink(entry => lines.push({ ...entry, by: running.getStore() }))
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await world.stop()
  await receiver.close()
})

const sweepNow = () =>
  running.run('workflow/sweep', () => sweep({}, { awsRequestId: randomUUID() } as never))

const playJob = async () => {
  say({ status: 503, body: { error: { message: RESULT } } }, { text: RESULT, end: 'done' })
  const helper = await world.createAgent([], { name: NAME, model: localModel() })
  const boss = await world.createAgent(['probe', 'sub_agent'], { name: NAME })
  await world.setSettings(boss, 'probe', { plain: SETTING, secret: SECRET })
  await world.setSettings(boss, 'sub_agent', { allowed_target_agents: [helper] })
  await world.override(boss, 'sub_agent.sub_agent', { requires_approval: false })
  const { id: subscriptionId } = dataOf<{ id: string }>(
    await world.request('POST', '/api/v1/subscriptions', {
      body: { name: NAME, url: receiver.url },
    }),
  )
  const id = await world.createTask(
    boss,
    PROMPT,
    `/probe fail {"text": "${ARGUMENT}"}`,
    `/${TOOL_NAME} ${TOOL_NAME} {"${ARGUMENT}": 1}`,
    '',
    `/probe long {"text": "${ARGUMENT}"}`,
    '',
    `/probe ask {"text": "${ARGUMENT}"}`,
    '',
    `/sub_agent sub_agent ${JSON.stringify({ target_agent_id: helper, prompt: PROMPT })}`,
  )
  const [approval] = await world.untilApproval(id)
  await until('the execution waits', async () => (world.waiting() > 0 ? true : undefined))
  await table.update(Task, taskKey(id), { set: dueIndex(id, '2026-01-01T00:00:00.000Z') })
  await sweepNow()
  await world.decide(approval, 'approve')
  await world.untilTask(id, 'COMPLETED')
  await world.run(boss, 'probe.fail', { text: ARGUMENT })
  await until(
    'the end was told',
    async () =>
      receiver.received.some(({ body }) => JSON.parse(body).type === 'task.ended') || undefined,
  )
  await until('nothing runs', async () => (world.running() === 0 ? true : undefined))
  return { id, boss, helper, subscriptionId }
}

const IDS = [
  'requestId',
  'taskId',
  'generation',
  'callId',
  'agentId',
  'deliveryId',
  'subscriptionId',
] as const

/** Which ids a line has, in that order, by who wrote it and what it says; more than one way, by case. */
const HAS: Record<string, string | string[]> = {
  'admin/agents request-handled POST /api/v1/agents': 'requestId',
  'admin/agents request-handled POST /api/v1/agents/:id/tools/:tool/enable': 'requestId agentId',
  'admin/agents request-handled PATCH /api/v1/agents/:id/tools/:tool/operations/:operation':
    'requestId agentId',
  'admin/settings request-handled PUT /api/v1/agents/:id/tools/:tool/settings': 'requestId agentId',
  'admin/subscriptions request-handled POST /api/v1/subscriptions': 'requestId',
  'admin/tasks request-handled POST /api/v1/tasks': 'requestId taskId agentId',
  'admin/tasks execution-started': 'requestId taskId generation agentId',
  'admin/tasks request-handled GET /api/v1/tasks/:id': 'requestId taskId agentId',
  'admin/approvals request-handled GET /api/v1/approvals': 'requestId',
  'admin/approvals request-handled POST /api/v1/tool-calls/:id/approve':
    'requestId taskId callId agentId',
  'admin/approvals token-gone': 'requestId taskId generation callId agentId',
  'workflow/tick function-run': 'requestId taskId generation agentId',
  'workflow/tick model-request-failed': 'requestId taskId generation agentId',
  'workflow/tick token-gone': 'requestId taskId generation agentId',
  'workflow/park function-run': 'requestId taskId generation agentId',
  'workflow/park park-refused': 'requestId taskId generation agentId',
  'workflow/wake function-run': 'requestId taskId callId agentId',
  'workflow/wake token-gone': 'requestId taskId generation callId agentId',
  'workflow/sweep task-swept': 'requestId taskId generation agentId',
  'workflow/sweep function-run': 'requestId',
  'workflow/notify notice-sent': [
    'requestId taskId callId agentId deliveryId subscriptionId',
    'requestId taskId agentId deliveryId subscriptionId',
  ],
  'workflow/notify function-run': 'requestId',
  'tools/probe tool-call-failed': ['requestId taskId callId agentId', 'requestId callId agentId'],
  'tools/probe tool-call-run': ['requestId taskId callId agentId', 'requestId callId agentId'],
  'tools/probe function-run': 'requestId taskId callId agentId',
  'tools/probe request-handled POST /api/v1/tools/:tool/operations/:operation':
    'requestId callId agentId',
  'tools/sub-agent execution-started': 'requestId taskId generation callId agentId',
  'tools/sub-agent tool-call-run': 'requestId taskId callId agentId',
  'tools/sub-agent function-run': 'requestId taskId callId agentId',
}
/** Whether these come depends on who is faster. */
const MAY_BE_MISSING = [/ token-gone$/, / park-refused$/]

const whatOf = ({ by, event, method, route }: Line) =>
  [by, event, method, route].filter(part => part !== undefined).join(' ')
const idsOf = (line: Line) => IDS.filter(name => name in line).join(' ')

describe('of a whole job', () => {
  let job: Awaited<ReturnType<typeof playJob>>
  beforeAll(async () => {
    job = await playJob()
  })
  const written = () => lines.filter(({ by }) => by !== undefined)

  it('every line of every function has the ids of what it is about', () => {
    for (const line of written())
      expect([HAS[whatOf(line)]].flat(), whatOf(line)).toContain(idsOf(line))
    const seen = new Set(written().map(whatOf))
    const missing = Object.keys(HAS).filter(what => !seen.has(what))
    expect(missing.filter(what => !MAY_BE_MISSING.some(pattern => pattern.test(what)))).toEqual([])
  })

  it('the ids are those that they are called, and each run of a function has its own', () => {
    for (const line of written())
      for (const name of IDS) {
        const id = line[name]
        if (id === undefined) continue
        if (name === 'generation') expect(id).toEqual(expect.any(Number))
        else if (name === 'requestId') expect(id).toMatch(/^[0-9a-f-]{36}$/)
        else expect(id).toMatch(new RegExp(`^${name.replace('Id', '')}_[0-9A-Z]{26}$`))
      }
    const runs = written().filter(({ event }) => /^(function-run|request-handled)$/.test(event))
    expect(new Set(runs.map(({ requestId }) => requestId)).size).toBe(runs.length)
  })

  it('each call is followed from its task to the function that ran it, and to what woke the task', async () => {
    const { tool_calls: calls } = await world.getTask(job.id)
    const ran = calls.filter(({ operation }) => operation !== '' && operation !== TOOL_NAME)
    expect(ran.map(({ operation }) => operation)).toEqual(['fail', 'long', 'ask', 'sub_agent'])
    for (const { id: callId, tool, operation, status } of ran)
      expect(lines.filter(line => line.event === 'tool-call-run')).toContainEqual(
        expect.objectContaining({ taskId: job.id, callId, tool, operation, status }),
      )
    const long = ran.find(({ operation }) => operation === 'long')
    expect(lines).toContainEqual(
      expect.objectContaining({ by: 'workflow/wake', taskId: job.id, callId: long?.id }),
    )
  })

  it('a sub-agent’s lines name its own task', () => {
    const asked = lines.filter(({ event }) => event === 'model-request-failed')
    expect(asked.map(({ agentId }) => agentId)).toEqual([job.helper])
    expect(asked[0]?.taskId).not.toBe(job.id)
  })

  it('no line has a word of what was said, given or kept, or a name that somebody gave', () => {
    expect(lines.length).toBeGreaterThan(40)
    for (const line of lines) {
      const text = JSON.stringify(line)
      expect(CANARIES.filter(canary => text.includes(canary))).toEqual([])
    }
  })
})
