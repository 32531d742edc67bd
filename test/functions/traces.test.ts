import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { Id } from '../../lib/core/ids.ts'
import * as table from '../../lib/data/table.ts'
import { Task, taskKey } from '../../lib/task/task.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'
import { fine, localModel, say, useModelServer } from '../lib/workflow/model-server.ts'
import { type ReceivedSpan, type Receiver, startReceiver, treeOf } from '../otlp-receiver.ts'
import { ask } from '../probe.ts'
import { startWorld, until, type World } from '../world.ts'

const PROMPT = 'canary-prompt-4711'
const ARGUMENT = 'canary-argument-4711'
const SETTING = 'canary-setting-4711'
const SECRET = 'canary-secret-4711'
const RESULT = 'canary-result-4711'
const NAME = 'canary_name_4711'
const HEADER = 'canary-header-4711'
const CANARIES = [PROMPT, ARGUMENT, SETTING, SECRET, RESULT, NAME, HEADER]

/** The tick that waits for this operation dies: its work is done, and nobody is told. */
let dying: (() => void) | undefined
/** How many of those operations nobody has heard of since. */
let hanging = 0

const probe = defineTool({
  name: 'probe',
  description: 'Does what a job may come to.',
  settings: {
    plain: setting.text({ label: 'Plain' }),
    secret: setting.password({ label: 'Secret' }),
  },
  operations: {
    ask: { ...ask, parameters: z.object({ text: z.string() }), execute: async () => RESULT },
    kill: {
      description: 'Ends the tick that asked for it.',
      parameters: z.object({}),
      effect: 'read',
      describe: () => 'Kill',
      execute: async () => RESULT,
    },
    fail: {
      description: 'Fails.',
      parameters: z.object({}),
      effect: 'read',
      describe: () => 'Fail',
      execute: async ({ settings }) => {
        throw new Error(`${RESULT} ${settings.secret}`)
      },
    },
  },
})

useModelServer()

let world: World
let receiver: Receiver
let boss: Id<'agent'>
let helper: Id<'agent'>

beforeAll(async () => {
  receiver = await startReceiver()
  world = await startWorld([probe], {
    wrap: load => async module => {
      const { handler } = await load(module)
      if (module === 'workflow/tick')
        return {
          handler: (event, context) => {
            const { promise, reject } = Promise.withResolvers<never>()
            dying ??= () => reject(new Error('The process died.'))
            return Promise.race([promise, handler(event, context)]).finally(() => {
              dying = undefined
            })
          },
        }
      if (module !== 'tools/probe') return { handler }
      return {
        handler: async (event, context) => {
          const answer = await handler(event, context)
          if (!context.functionName.endsWith('-kill')) return answer
          hanging += 1
          dying?.()
          return new Promise(() => {})
        },
      }
    },
  })
  helper = await world.createAgent([], { name: 'Helper', model: localModel() })
  boss = await world.createAgent(['probe', 'sub_agent'], { name: 'Boss' })
  await world.setSettings(boss, 'probe', { plain: SETTING, secret: SECRET })
  await world.setSettings(boss, 'sub_agent', { allowed_target_agents: [helper] })
  for (const operation of ['sub_agent', 'handover'])
    await world.override(boss, `sub_agent.${operation}`, { requires_approval: false })
})
afterAll(async () => {
  await world.stop()
  await receiver.close()
})
beforeEach(() => {
  receiver.become('takes')
  receiver.forget()
  world.logs.length = 0
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url)
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', `x-key=${HEADER}`)
})
afterEach(() => vi.unstubAllEnvs())

const idle = () =>
  until('nothing runs any more', async () => (world.running() === hanging ? true : undefined))

const toHelper = (operation: 'sub_agent' | 'handover') =>
  `/sub_agent ${operation} ${JSON.stringify({ target_agent_id: helper, prompt: PROMPT })}`

/** Each span once, in the order of their beginnings; one that came twice came as it was. */
const spansOf = (): ReceivedSpan[] => {
  expect(receiver.problems).toEqual([])
  const byId = new Map<string, ReceivedSpan>()
  for (const span of receiver.spans) {
    const known = byId.get(span.spanId)
    if (known) expect(span).toEqual(known)
    byId.set(span.spanId, span)
  }
  return [...byId.values()].sort((one, other) => one.startedAt - other.startedAt)
}

const expectNested = (spans: ReceivedSpan[]) => {
  const byId = new Map(spans.map(span => [span.spanId, span]))
  for (const span of spans) {
    if (span.parentSpanId === undefined) continue
    const parent = byId.get(span.parentSpanId)
    expect(parent, `${span.name} has a parent`).toBeDefined()
    expect(span.startedAt, span.name).toBeGreaterThanOrEqual(parent?.startedAt ?? 0)
    expect(span.endedAt, span.name).toBeLessThanOrEqual(parent?.endedAt ?? 0)
  }
}

const playJob = async () => {
  say({ status: 503, body: { error: { message: RESULT } } }, { text: RESULT, end: 'done' })
  const id = await world.createTask(
    boss,
    PROMPT,
    '/probe kill {}',
    '',
    `/probe ask {"text": "${ARGUMENT}"}`,
    '',
    toHelper('sub_agent'),
    '',
    `/probe fail {}`,
    `/${NAME} ${NAME} {"${ARGUMENT}": 1}`,
  )
  await until('the tick has died', async () => {
    const died = world.logs.some(({ event }) => event === 'function-failed')
    return died || undefined
  })
  // As time would have it.
  await table.update(Task, taskKey(id), { remove: ['leaseUntil'] })
  const [approval] = await world.untilApproval(id)
  await world.decide(approval, 'approve')
  const task = await world.untilTask(id, 'COMPLETED')
  await until('the end is told', async () =>
    receiver.spans.some(({ parentSpanId }) => parentSpanId === undefined) ? true : undefined,
  )
  return task
}

describe('a whole job', () => {
  it('is one trace and one tree, whatever died, failed and waited in it', async () => {
    const task = await playJob()
    const spans = spansOf()
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    expect(treeOf(spans)).toEqual([
      'invoke_agent Boss',
      '  chat script',
      '  execute_tool probe.kill',
      '  chat script',
      '  execute_tool probe.ask',
      '  chat script',
      '  execute_tool sub_agent.sub_agent',
      '    invoke_agent Helper',
      '      chat local [server-overloaded]',
      '      chat local',
      '  chat script',
      '  execute_tool probe.fail [failed]',
      '  execute_tool [failed]',
      '  chat script',
    ])
    expectNested(spans)
    const named = (name: string) => spans.find(span => span.name === name)?.attributes
    expect(named('invoke_agent Boss')).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'rehearsal',
      'gen_ai.agent.id': boss,
      'gen_ai.agent.name': 'Boss',
      'gen_ai.conversation.id': task.id,
      'espalier.task.status': 'COMPLETED',
    })
    expect(named('execute_tool probe.ask')).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'probe.ask',
      'gen_ai.tool.call.id': task.tool_calls[1]?.id,
      'espalier.call.status': 'COMPLETED',
      'espalier.call.requires_approval': true,
      'espalier.call.approval_wait_ms': expect.any(Number),
    })
    const chats = spans.filter(({ name }) => name === 'chat local')
    expect(chats.map(({ kind }) => kind)).toEqual([3, 3])
    expect(chats[1]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai-compatible',
      'gen_ai.request.model': 'local',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
    })
  })

  it('has nothing in its spans, nor in the log, of what was said, given or kept', async () => {
    await playJob()
    expect(receiver.texts.length).toBeGreaterThan(3)
    for (const text of [...receiver.texts, ...world.logs.map(entry => JSON.stringify(entry))])
      expect(CANARIES.filter(canary => text.includes(canary))).toEqual([])
  })

  it('has its trace in the lines of the log', async () => {
    const task = await playJob()
    const [root] = spansOf()
    const lines = world.logs.filter(({ event, taskId }) => event === 'function-run' && taskId)
    expect(lines.length).toBeGreaterThan(5)
    for (const line of lines)
      expect([line.traceId, line.spanId]).toEqual([root?.traceId, expect.any(String)])
    const ticks = lines.filter(({ taskId, callId }) => taskId === task.id && !callId)
    for (const { spanId } of ticks) expect(spanId).toBe(root?.spanId)
  })

  it.each(['fails', 'hangs', 'redirects'] as const)(
    'comes to the same where the receiver %s',
    async mood => {
      receiver.become(mood)
      const task = await world.createTask(boss, '/probe fail {}', '', '/probe fail {}')
      await world.untilTask(task, 'COMPLETED')
      await idle()
      const untold = world.logs.filter(({ event }) => event === 'spans-not-sent')
      expect(untold.length).toBeLessThanOrEqual(1)
    },
  )
})

describe('a task', () => {
  it('that hands over says to whom, and both are in one trace', async () => {
    const id = await world.createTask(boss, toHelper('handover'))
    const { handover } = await world.untilTask(id, 'COMPLETED')
    await world.untilTask(handover?.target_task_id ?? '', 'COMPLETED')
    await idle()
    const spans = spansOf()
    expect(treeOf(spans)).toEqual([
      'invoke_agent Boss',
      '  chat script',
      '  execute_tool sub_agent.handover',
      'invoke_agent Helper',
      '  chat local',
    ])
    const [from, to] = spans.filter(({ parentSpanId }) => parentSpanId === undefined)
    expect(from?.traceId).toBe(to?.traceId)
    expect(from?.links.map(({ spanId }) => spanId)).toEqual([to?.spanId])
  })

  it('that goes on after its end has a span for each life, the later one linked to the first', async () => {
    const id = await world.createTask(boss, '/probe fail {}', '', `/probe ask {"text": ""}`)
    await world.untilApproval(id)
    await world.request('POST', `/api/v1/tasks/${id}/abort`)
    await world.request('POST', `/api/v1/tasks/${id}/continue`, { body: {} })
    await world.untilTask(id, 'COMPLETED')
    await idle()
    const spans = spansOf()
    expect(treeOf(spans)).toEqual([
      'invoke_agent',
      '  chat script',
      '  execute_tool probe.fail [failed]',
      '  chat script',
      '  execute_tool probe.ask',
      'invoke_agent Boss',
      '  chat script',
    ])
    expectNested(spans)
    const [first, second] = spans.filter(({ parentSpanId }) => parentSpanId === undefined)
    expect(first?.attributes).toMatchObject({ 'espalier.task.status': 'ABORTED' })
    expect(second?.links.map(({ spanId }) => spanId)).toEqual([first?.spanId])
  })

  it('that is cancelled has its whole tree told', async () => {
    const { promise: thinking, resolve: answer } = Promise.withResolvers<typeof fine>()
    say(() => thinking)
    const id = await world.createTask(boss, toHelper('sub_agent'))
    await world.untilTask(id, 'AWAITING_SUB_AGENTS')
    await until('the child is asked', async () =>
      world.logs.some(({ event }) => event === 'function-run') ? true : undefined,
    )
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
    await world.untilTask(id, 'CANCELLED')
    const spans = spansOf()
    expect(treeOf(spans)).toEqual([
      'invoke_agent',
      '  chat script',
      '  execute_tool sub_agent.sub_agent',
      '    invoke_agent',
    ])
    const ends = spans.map(({ attributes }) => attributes['espalier.task.status'])
    expect(ends.filter(end => end !== undefined)).toEqual(['CANCELLED', 'CANCELLED'])
    answer(fine)
    await idle()
    expectNested(spans)
  })
})

describe('a call outside of tasks', () => {
  it('is a trace of its own, once it has run', async () => {
    const answer = await world.run(boss, 'probe.fail', {})
    const { call_id: id } = answer.body.data as { call_id: string }
    expect(treeOf(spansOf())).toEqual(['execute_tool probe.fail [failed]'])
    expect(spansOf()[0]?.attributes).toMatchObject({ 'gen_ai.tool.call.id': id })
  })
})

describe('without the variable', () => {
  it('nobody is told anything, and no line has a trace', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', '')
    const task = await world.createTask(boss, '/probe fail {}')
    await world.untilTask(task, 'COMPLETED')
    await world.run(boss, 'probe.fail', {})
    await idle()
    expect(receiver.texts).toEqual([])
    expect(world.logs.filter(line => 'traceId' in line || 'spanId' in line)).toEqual([])
  })
})
