import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tools } from '../../../functions/tools/index.ts'
import { Agent, agentKey, getAgent } from '../../../lib/agent/agent.ts'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import type { HistoryRow } from '../../../lib/http/present-history.ts'
import { createTask } from '../../../lib/task/create.ts'
import { listEvents } from '../../../lib/task/event.ts'
import { readHistory } from '../../../lib/task/history.ts'
import { getLedger } from '../../../lib/task/ledger.ts'
import { getTask, type Task } from '../../../lib/task/task.ts'
import { MAX_REASKS } from '../../../lib/workflow/model-step.ts'
import { MAX_MODEL_FAILURES, MAX_RETRY_SECONDS } from '../../../lib/workflow/outcome.ts'
import { tick } from '../../../lib/workflow/tick.ts'
import { dataOf, startWorld, type World } from '../../world.ts'
import { type Scripted, WIRES } from '../llm/wires.ts'

type Reply = Scripted | { status: number; retryAfter?: string; body?: unknown }

/** A model server on this machine: it answers with the next of these, and the last for ever. */
let replies: Reply[] = []
let asked: { messages: { role: string; content: unknown }[]; tools?: unknown }[] = []
let server: Server
let world: World
let agent: Id<'agent'>

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      asked.push(JSON.parse(Buffer.concat(chunks).toString()))
      const reply = replies[Math.min(asked.length, replies.length) - 1]
      if (reply && 'status' in reply) {
        response.writeHead(reply.status, {
          'content-type': 'application/json',
          ...(reply.retryAfter === undefined ? {} : { 'retry-after': reply.retryAfter }),
        })
        response.end(JSON.stringify(reply.body ?? { error: { message: 'no' } }))
        return
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(WIRES['openai-compatible'](reply ?? { text: 'Done.', end: 'done' }).join(''))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  world = await startWorld()
  agent = await world.createAgent(['calculator'], {
    model: {
      provider: 'openai-compatible',
      name: 'local',
      base_url: `http://127.0.0.1:${port}/v1`,
    },
    max_steps: 3,
  })
})
afterAll(async () => {
  await world.stop()
  server.close()
})
beforeEach(() => {
  asked = []
})

const run = async (...next: Reply[]) => {
  replies = next
  const id = await world.createTask(agent, 'Calculate.')
  return world.untilTask(id, 'COMPLETED', 'FAILED')
}

const call = (...pieces: string[]): Scripted => ({
  calls: [{ id: 'call_1', name: 'calculator', pieces }],
  end: 'done',
})
const fine: Scripted = { text: 'It is 4.', end: 'done' }

const historyOf = async (id: string) =>
  dataOf<HistoryRow[]>(await world.request('GET', `/api/v1/tasks/${id}/history`))

/** What the model was told of its last call. */
const told = () => asked.at(-1)?.messages.findLast(({ role }) => role === 'tool')?.content

describe('a model request that fails', () => {
  it.each([429, 503])(
    'with %i is made again after the time that the provider names',
    async status => {
      const task = await run({ status, retryAfter: '0' }, { status, retryAfter: '0' }, fine)
      expect(task).toMatchObject({ status: 'COMPLETED', final_response: 'It is 4.' })
      expect(asked).toHaveLength(3)
      expect((await getTask(task.id as Id<'task'>)).failures).toBe(0)
    },
  )

  it(`fails the task at the ${MAX_MODEL_FAILURES}th time in a row`, async () => {
    const task = await run({ status: 500, retryAfter: '0' })
    expect(task.status).toBe('FAILED')
    expect(task.error).toMatchObject({ code: 'SERVER_ERROR' })
    expect(asked).toHaveLength(MAX_MODEL_FAILURES)
  })

  it('counts only failures in a row', async () => {
    const busy = { status: 429, retryAfter: '0' }
    const task = await run(
      busy,
      busy,
      busy,
      call('{"expression": "2 + 2"}'),
      busy,
      busy,
      busy,
      fine,
    )
    expect(task).toMatchObject({ status: 'COMPLETED', error: null })
  })

  it.each([
    [400, 'BAD_REQUEST'],
    [401, 'AUTH_ERROR'],
    [403, 'AUTH_ERROR'],
  ])('with %i fails the task at once, and says why', async (status, code) => {
    const body = { error: { message: 'canary of the provider' } }
    const task = await run({ status, body })
    expect(task).toMatchObject({ status: 'FAILED', error: { code } })
    expect(task.error?.message).toContain(`HTTP ${status}`)
    expect(JSON.stringify(task)).not.toContain('canary')
    expect(asked).toHaveLength(1)
  })

  it('waits longer each time where the provider names no time, and holds no lease meanwhile', async () => {
    replies = [{ status: 500 }]
    const id = newId('task')
    await createTask({ id, agent: await getAgent(agent), prompt: 'Calculate.' })
    const waits: number[] = []
    for (let failure = 1; failure < MAX_MODEL_FAILURES; failure++) {
      const { outcome, until } = await runTick({ id, generation: 0 })
      expect(outcome).toBe('until')
      waits.push(secondsTo(until))
      passUntil(until)
      const task = await getTask(id)
      expect(task).toMatchObject({ status: 'QUEUED', failures: failure })
      expect(task.error?.code).toBe('SERVER_ERROR')
      expect(task.leaseUntil).toBeUndefined()
    }
    expect(waits).toEqual([10, 20, 40])
    expect(await runTick({ id, generation: 0 })).toMatchObject({ outcome: 'end' })
    expect((await getTask(id)).status).toBe('FAILED')
  })

  it('waits no longer than an hour, whatever the provider asks for', async () => {
    replies = [{ status: 429, retryAfter: String(MAX_RETRY_SECONDS + 1) }]
    const id = newId('task')
    await createTask({ id, agent: await getAgent(agent), prompt: 'Calculate.' })
    const { until } = await runTick({ id, generation: 0 })
    expect(secondsTo(until)).toBe(MAX_RETRY_SECONDS)
  })

  it.each([
    [500, 'SERVER_ERROR', MAX_MODEL_FAILURES],
    [401, 'AUTH_ERROR', 1],
  ])(
    'with %i is begun anew as often as the agent says, each time after the minutes that it says',
    async (status, code, tries) => {
      replies = [{ status }]
      const id = newId('task')
      const patient = { ...(await getAgent(agent)), maxRetries: 2, retryAfterMinutes: 7 }
      await table.update(Agent, agentKey(agent), { set: { maxRetries: 2, retryAfterMinutes: 7 } })
      await createTask({ id, agent: patient, prompt: 'Calculate.' })
      for (let retry = 0; retry <= 2; retry++) {
        for (let soon = 1; soon < tries; soon++) {
          const { outcome, until } = await runTick({ id, generation: 0 })
          expect(outcome).toBe('until')
          passUntil(until)
        }
        expect(await getTask(id)).toMatchObject({ retries: retry })
        const { outcome, until } = await runTick({ id, generation: 0 })
        if (retry === 2) expect(outcome).toBe('end')
        else {
          expect(secondsTo(until)).toBe(7 * 60)
          // Woken before its time, it waits on, and asks nobody.
          const requests = asked.length
          expect(await runTick({ id, generation: 0 })).toMatchObject({ outcome: 'until', until })
          expect(asked).toHaveLength(requests)
          passUntil(until)
        }
      }
      await table.update(Agent, agentKey(agent), { set: { maxRetries: 0 } })
      expect(await getTask(id)).toMatchObject({ status: 'FAILED', error: { code }, retries: 2 })
      expect(asked).toHaveLength(3 * tries)
      const scheduled = (await listEvents(id)).filter(({ type }) => type === 'retry-scheduled')
      expect(scheduled).toHaveLength(3 * tries - 1)
    },
  )

  it('with what no time mends is not begun anew', async () => {
    await table.update(Agent, agentKey(agent), { set: { maxRetries: 2 } })
    const task = await run({ status: 400 })
    await table.update(Agent, agentKey(agent), { set: { maxRetries: 0 } })
    expect(task).toMatchObject({ status: 'FAILED', error: { code: 'BAD_REQUEST' } })
    expect(asked).toHaveLength(1)
  })

  const runTick = (task: Pick<Task, 'id' | 'generation'>) =>
    tick(
      { taskId: task.id, generation: task.generation },
      { tools, remainingMs: () => 900_000, clock },
    )

  /** It goes on only where a test says so: what a wait comes to is no matter of how fast the machine is. */
  let now = new Date()
  const clock = { now: () => now }
  const secondsTo = (until: string): number => (Date.parse(until) - now.getTime()) / 1_000
  const passUntil = (until: string): void => {
    now = new Date(until)
  }
})

describe('a model’s answer', () => {
  it('that was cut off at its longest is no answer', async () => {
    const task = await run({ text: 'It is', end: 'length' })
    expect(task).toMatchObject({ status: 'FAILED', error: { code: 'ANSWER_CUT_OFF' } })
    expect(task.final_response).toBeNull()
  })

  it('with a call that was cut off runs nothing, and says how much had arrived', async () => {
    const task = await run({ ...call('{"expression": "2 +'), end: 'length' }, fine)
    expect(task.status).toBe('COMPLETED')
    expect(told()).toContain(
      'cut off after 19 characters and did not run. The answer had spent all of the 10 tokens that one may have. Make it again with less',
    )
    expect(task.tool_calls[0]).toMatchObject({ status: 'FAILED', operation: '' })
  })

  const broken = call('{"expression": 2 2}')

  it.each([1, MAX_REASKS])(
    'with a malformed call is asked for again, %i times here, and the model hears nothing of it',
    async times => {
      const whole = call('{"expression": "2 + 2"}')
      const task = await run(...Array(times).fill(broken), whole, fine)
      expect(task).toMatchObject({ status: 'COMPLETED', usage: { steps: 2, requests: times + 2 } })
      expect(asked).toHaveLength(times + 2)
      for (const again of asked.slice(1, times + 1)) expect(again).toEqual(asked[0])
      expect(JSON.stringify(asked.at(-1)?.messages)).not.toContain('2 2}')
      expect(task.tool_calls).toHaveLength(1)
      expect(task.tool_calls[0]?.status).toBe('COMPLETED')
      // Each of them is paid, and people can read what was wrong.
      const [, step] = await historyOf(task.id)
      expect(step).toMatchObject({
        usage: { input_tokens: 20 * (times + 1) },
        discarded_calls: Array(times).fill({
          tool: 'calculator',
          arguments: '{"expression": 2 2}',
        }),
      })
    },
  )

  it('with a call that stays malformed runs nothing, says why, and never sends the text back', async () => {
    const task = await run(...Array(MAX_REASKS + 1).fill(broken), fine)
    expect(task.status).toBe('COMPLETED')
    expect(asked).toHaveLength(MAX_REASKS + 2)
    expect(told()).toContain('not valid JSON')
    expect(JSON.stringify(asked.at(-1)?.messages)).not.toContain('2 2}')
    expect(task.tool_calls[0]).toMatchObject({ status: 'FAILED', operation: '' })
    const [, step] = await historyOf(task.id)
    expect(step?.tool_calls).toMatchObject([{ arguments: '{"expression": 2 2}' }])
  })

  it('with a malformed call among good ones is asked for again as a whole: none of it has run', async () => {
    const both: Scripted = {
      calls: [
        { id: 'call_1', name: 'calculator', pieces: ['{"expression": "1 + 1"}'] },
        { id: 'call_2', name: 'calculator', pieces: ['{"expression": }'] },
      ],
      end: 'done',
    }
    const task = await run(both, call('{"expression": "3 + 3"}'), fine)
    expect(task.tool_calls.map(({ arguments: values }) => values)).toMatchObject([
      { expression: '3 + 3' },
    ])
  })

  it('with a call that was cut off beside a malformed one is not asked for again', async () => {
    const both: Scripted = {
      calls: [
        { id: 'call_1', name: 'calculator', pieces: ['{"expression": }'] },
        { id: 'call_2', name: 'calculator', pieces: ['{"expression": "2 +'] },
      ],
      end: 'length',
    }
    await run(both, fine)
    expect(asked).toHaveLength(2)
    expect(told()).toContain('cut off after 19 characters')
  })

  it('that is malformed counts where asking again fails', async () => {
    const task = await run(broken, { status: 500 }, fine)
    expect(task.status).toBe('COMPLETED')
    expect(told()).toContain('not valid JSON')
    expect(asked).toHaveLength(3)
  })

  it('that is malformed does not count where the platform itself fails, and the tick is tried again', async () => {
    replies = [broken]
    const id = newId('task')
    await createTask({ id, agent: await getAgent(agent), prompt: 'Calculate.' })
    let writes = 0
    dynamodb().middlewareStack.add(
      next => async arguments_ => {
        const { Key } = arguments_.input as { Key?: { pk?: { S?: string } } }
        // The first two are those of the first request.
        if (Key?.pk?.S === `ledger#${id}` && ++writes === 3) throw new Error('The machine dies.')
        return next(arguments_)
      },
      { step: 'initialize', name: 'dying' },
    )
    const event = { taskId: id, generation: 0 }
    const context = { tools, remainingMs: () => 900_000 }
    await expect(tick(event, context)).rejects.toThrow('The machine dies.')
    dynamodb().middlewareStack.remove('dying')
    expect(await readHistory(id)).toHaveLength(1)
    expect(await getLedger(id)).toMatchObject({ requests: 1, inputTokens: 20, open: new Map() })
  })

  it('with a call of a tool that there isn’t is told which there are', async () => {
    const unknown: Scripted = { calls: [{ id: 'c', name: 'calc', pieces: ['{}'] }], end: 'done' }
    await run(unknown, fine)
    expect(told()).toContain(
      'There is no tool "calc". Did you mean "calculator"? You have: calculator.',
    )
  })

  it('with an operation that a tool hasn’t is told which one is like it', async () => {
    await world.request('POST', `/api/v1/agents/${agent}/tools/time/enable`)
    await run(
      { calls: [{ id: 'c', name: 'time', pieces: ['{"action": "nwo"}'] }], end: 'done' },
      fine,
    )
    expect(told()).toContain('has no operation "nwo". Did you mean "now"? Available: now,')
    await world.request('DELETE', `/api/v1/agents/${agent}/tools/time/enable`)
  })

  it('with a name, an operation and arguments out of all proportion does not stop the task', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`argument_${at}`, at]),
    )
    const task = await run(
      { calls: [{ id: 'c', name: 'x'.repeat(500_000), pieces: ['{}'] }], end: 'done' },
      call(JSON.stringify({ expression: '1', ...many })),
      fine,
    )
    expect(task.status).toBe('COMPLETED')
    for (const { result } of task.tool_calls) expect(result?.content.length).toBeLessThan(11_000)
  })

  it.each([
    [2, 'COMPLETED'],
    [3, 'FAILED'],
  ])(
    'after %i steps with calls, of 3 that there may be, ends the task as %s',
    async (steps, status) => {
      const task = await run(
        ...Array.from({ length: steps }, () => call('{"expression": "2 + 2"}')),
        fine,
      )
      expect(task.status).toBe(status)
      if (status === 'FAILED') expect(task.error).toMatchObject({ code: 'MAX_STEPS' })
      expect(asked).toHaveLength(3)
    },
  )
})
