import { describe, expect, it } from 'vitest'
import type { Id } from '../../../lib/core/ids.ts'
import { getLedger, openOf } from '../../../lib/task/ledger.ts'
import { useWorld, world } from '../../use-world.ts'
import { dataOf, type TaskView, until } from '../../world.ts'
import { call, fine, localModel, say, server, TOKENS, useModelServer } from './model-server.ts'
import { mayAsk } from './sub-agent.ts'

useModelServer()
useWorld()

/** An LLM configuration of the local model, at a price for a million tokens. */
const configuration = async (price?: { input: number; cached_input?: number; output: number }) => {
  const { provider, name: model, base_url } = localModel()
  const body = { name: 'Local', provider, model, base_url, ...(price ? { price } : {}) }
  return dataOf<{ id: string; price: unknown }>(
    await world.request('POST', '/api/v1/llm-configurations', { body }),
  )
}

/** A dollar an answer: twenty tokens in and ten out. */
const DOLLAR = { input: 25_000, output: 50_000 }
const agentWith = async (
  fields: object,
  price: Parameters<typeof configuration>[0],
  tools: string[] = ['calculator'],
) => {
  const { id } = await configuration(price)
  return world.createAgent(tools, {
    model: undefined,
    llm_configuration_id: id,
    ...fields,
  })
}
const run = async (agent: Id<'agent'>) => {
  const id = await world.createTask(agent, 'Go.')
  return world.untilTask(id, 'COMPLETED', 'FAILED')
}
const sums = (nth: number) => call('calculator', { expression: `${nth} + 1` })

describe('what a task costs', () => {
  it('is what its steps cost, to the billionth, for itself and its tree', async () => {
    expect(TOKENS).toEqual({ input: 20, output: 10 })
    say(sums(1), sums(2), fine)
    const task = await run(await agentWith({}, { input: 0.333, output: 1.777 }))
    const nano = 3 * (20 * 333 + 10 * 1_777)
    expect(task.usage.cost_usd).toBe(nano / 1_000_000_000)
    expect(task.own_usage.cost_usd).toBe(nano / 1_000_000_000)
    expect(task.usage).toMatchObject({
      steps: 3,
      requests: 3,
      unpriced_requests: 0,
      unconfirmed: { requests: 0, tokens: 0, cost_usd: 0 },
    })
  })

  it('is unknown where a model has no price, and no number is made up', async () => {
    const task = await run(await world.createAgent([], { model: localModel() }))
    expect(task.status).toBe('COMPLETED')
    expect(task.own_usage.cost_usd).toBeNull()
    expect(task.usage).toMatchObject({ cost_usd: 0, unpriced_requests: 1 })
  })

  it('is nothing with a rehearsal, and nothing for a request that the provider refused', async () => {
    const rehearsed = await run(await world.createAgent([], { max_cost_usd: 0.01 }))
    expect(rehearsed).toMatchObject({ status: 'COMPLETED', usage: { cost_usd: 0 } })
    say({ status: 429 }, fine)
    const task = await run(await agentWith({}, DOLLAR))
    expect(task).toMatchObject({
      status: 'COMPLETED',
      usage: { cost_usd: 1, requests: 2, unconfirmed: { requests: 0 } },
    })
  })

  it('of an answer that broke off within a call, and of a server that counts nothing, is estimated', async () => {
    const half = { calls: [{ id: 'c', name: 'calculator', pieces: ['{"expression": "1'] }] }
    say({ ...half, end: 'dies' }, fine)
    const task = await run(await agentWith({}, DOLLAR))
    expect(task.status).toBe('COMPLETED')
    // The whole answer costs a dollar; what the broken one had used, its server did not say.
    expect(task.usage.cost_usd).toBeGreaterThan(2)
    expect(task.own_usage.cost_usd).toBe(task.usage.cost_usd)
    expect(task.usage).toMatchObject({ unconfirmed: { requests: 0 } })
  })

  it('that nobody can know is told by itself, and is no part of what was spent', async () => {
    // The answer breaks off: what of it the provider charges, it has not said.
    say({ text: 'Half', end: 'dies' }, fine)
    const task = await run(await agentWith({ max_tree_cost_usd: 1_000 }, DOLLAR))
    const ledger = await getLedger(task.root_task_id as Id<'task'>)
    if (!ledger) throw new Error('There is no ledger.')
    expect(task.usage).toMatchObject({ cost_usd: 1, unconfirmed: { requests: 1 } })
    expect(ledger.costLeft).toBe(1_000_000_000_000 - ledger.cost - openOf(ledger).cost)
  })
})

describe('a limit of money', () => {
  it.each([
    // Each step is believed to cost 50 dollars for its answer and more for its request.
    [1_000, 'COMPLETED', 3, null],
    [3, 'FAILED', 0, 'MAX_COST'],
    [0.01, 'FAILED', 0, 'MAX_COST'],
  ])(
    'of %d dollars ends a task of three steps as %s',
    async (max_cost_usd, status, steps, code) => {
      say(sums(1), sums(2), fine)
      const task = await run(await agentWith({ max_cost_usd }, DOLLAR))
      expect(task).toMatchObject({ status, usage: { steps, cost_usd: steps } })
      expect(task.error?.code ?? null).toBe(code)
      expect(server.asked).toHaveLength(steps)
    },
  )

  it('stops before the step that would not fit any more, and lets go on once it is raised', async () => {
    say(sums(1), sums(2), fine)
    // An answer is estimated at a thousand tokens; so a price for input alone is nearer the truth.
    const agent = await agentWith({ max_cost_usd: 0.02 }, { input: 500, output: 0 })
    const task = await run(agent)
    expect(task).toMatchObject({ status: 'FAILED', error: { code: 'MAX_COST' } })
    expect(task.error?.message).toContain('0.02 US dollars')
    expect(task.usage.cost_usd).toBeLessThanOrEqual(0.02)
    await world.request('PATCH', `/api/v1/agents/${agent}`, {
      body: { max_cost_usd: 10_000 },
      headers: { 'If-Match': '*' },
    })
    dataOf(await world.request('POST', `/api/v1/tasks/${task.id}/continue`, { body: {} }))
    expect(await world.untilTask(task.id, 'COMPLETED')).toMatchObject({ error: null })
  })

  it.each([{ max_cost_usd: 5 }, { max_tree_cost_usd: 5 }])(
    '%j is refused with a model that has no price, and says how to give it one',
    async fields => {
      const task = await run(await world.createAgent([], { model: localModel(), ...fields }))
      expect(task).toMatchObject({ status: 'FAILED', error: { code: 'PRICE_UNKNOWN' } })
      expect(task.error?.message).toContain('"openai-compatible/local"')
      expect(task.error?.message).toContain('LLM configuration')
      expect(server.asked).toHaveLength(0)
      const priced = await run(await agentWith(fields, { input: 1, output: 1 }))
      expect(priced.status).toBe('COMPLETED')
    },
  )

  it.each([
    ['max_tree_cost_usd', 0.01, 'MAX_TREE_COST'],
    ['max_tree_tokens', 100, 'MAX_TREE_TOKENS'],
  ])('of a tree, %s, stops it before it asks for more than is left', async (field, limit, code) => {
    const task = await run(await agentWith({ [field]: limit }, DOLLAR))
    expect(task).toMatchObject({ status: 'FAILED', error: { code }, usage: { steps: 0 } })
    expect(server.asked).toHaveLength(0)
  })
})

describe('two children of one tree', () => {
  it('can’t ask for more together than is left of its money, also in the same moment', async () => {
    // A request with its answer is thought to cost more than 50 dollars, and costs one.
    const child = await agentWith({}, DOLLAR, [])
    const parent = await agentWith({ max_tree_cost_usd: 100 }, DOLLAR, ['sub_agent'])
    await mayAsk(parent, child)
    const ask = (id: string) => ({
      id,
      name: 'sub_agent',
      pieces: [JSON.stringify({ op: 'sub_agent', target_agent_id: child, prompt: id })],
    })
    const failed = Promise.withResolvers<void>()
    say(
      { calls: [ask('one'), ask('two')], end: 'done' },
      // The first child's answer comes once the second one was refused.
      async () => {
        await failed.promise
        return fine
      },
      fine,
    )
    const root = await world.createTask(parent, 'Go.')
    const childrenOf = async () =>
      dataOf<TaskView[]>(await world.request('GET', `/api/v1/tasks?agent_id=${child}`))
    const refused = await until('a child is refused', async () =>
      (await childrenOf()).find(({ status }) => status === 'FAILED'),
    )
    expect(refused.error?.code).toBe('MAX_TREE_COST')
    failed.resolve()
    const task = await world.untilTask(root, 'COMPLETED', 'FAILED')
    expect(task).toMatchObject({ status: 'COMPLETED', usage: { steps: 3, cost_usd: 3 } })
    expect(task.own_usage.cost_usd).toBe(2)
    expect(server.asked).toHaveLength(3)
  })
})

describe('the price of a configuration', () => {
  it('is shown as it was given, changed, and taken away', async () => {
    const made = await configuration({ input: 2, output: 8 })
    expect(made.price).toEqual({ input: 2, cached_input: null, output: 8 })
    const patch = async (price: unknown) =>
      dataOf<{ price: unknown }>(
        await world.request('PATCH', `/api/v1/llm-configurations/${made.id}`, {
          body: { price },
          headers: { 'If-Match': '*' },
        }),
      ).price
    expect(await patch({ input: 1, cached_input: 0.5, output: 4 })).toEqual({
      input: 1,
      cached_input: 0.5,
      output: 4,
    })
    expect(await patch(null)).toBeNull()
  })

  it.each([{ input: -1, output: 1 }, { input: 1 }, { input: 1, output: 100_001 }])(
    '%j is none',
    async price => {
      const { provider, name: model, base_url } = localModel()
      const body = { name: 'Local', provider, model, base_url, price }
      expect((await world.request('POST', '/api/v1/llm-configurations', { body })).status).toBe(422)
    },
  )
})
