import { describe, expect, it } from 'vitest'
import { newId } from '../../../lib/core/ids.ts'
import type { Entry, Summary } from '../../../lib/task/history.ts'
import type { Task } from '../../../lib/task/task.ts'
import type { AgentModel } from '../../../lib/workflow/agent-model.ts'
import { overLimit, overMoney } from '../../../lib/workflow/limits.ts'

const model: AgentModel = {
  provider: 'openai',
  name: 'some',
  price: { input: 1, output: 1 },
  open: () => Promise.reject(new Error('No model is asked here.')),
}

const row = { taskId: newId('task'), createdAt: '2026-01-01T00:00:00.000Z' }
const prompt = (seq: number): Entry => ({
  ...row,
  seq,
  role: 'user',
  message: { json: '' },
  content: { role: 'user', text: 'Go.' },
})
/** A step of ten tokens that cost a dollar. */
const step = (seq: number): Entry => ({
  ...row,
  seq,
  role: 'assistant',
  message: { json: '' },
  usage: { inputTokens: 7, outputTokens: 3 },
  cost: 1_000_000_000,
  content: { role: 'assistant', parts: [{ type: 'text', text: `${seq}` }] },
})
const summary = (atSeq: number): Summary => ({
  ...row,
  atSeq,
  upTo: 1,
  summary: { json: '' },
  text: 'So far.',
  model: 'openai/some',
  usage: { inputTokens: 7, outputTokens: 3 },
  cost: 1_000_000_000,
})

/** A prompt and three steps; then a follow-up with two more. */
const entries = [prompt(0), step(1), step(2), step(3), prompt(4), step(5), step(6)]

const codeFor = async (
  task: Partial<Task>,
  {
    maxCostUsd,
    summaries = [],
    price = model.price,
  }: {
    maxCostUsd?: number
    summaries?: Summary[]
    price?: AgentModel['price'] | null
  } = {},
) => {
  const { price: _, ...unpriced } = model
  const over = await overLimit({
    task: { maxSteps: 100, stepsFrom: 0, ...task } as Task,
    agent: maxCostUsd === undefined ? {} : { maxCostUsd },
    model: price ? { ...unpriced, price } : unpriced,
    conversation: { entries, calls: new Map(), summaries },
  })
  return over?.code
}

describe('a task’s steps and tokens', () => {
  it.each([
    [{ maxSteps: 6 }, undefined],
    [{ maxSteps: 5 }, 'MAX_STEPS'],
    [{ maxSteps: 3, stepsFrom: 3 }, undefined],
    [{ maxSteps: 2, stepsFrom: 3 }, 'MAX_STEPS'],
    [{ maxSteps: 1, stepsFrom: 5 }, undefined],
    [{ maxTokens: 51 }, undefined],
    [{ maxTokens: 50 }, 'MAX_TOKENS'],
    [{ maxTokens: 21, stepsFrom: 3 }, undefined],
    [{ maxTokens: 20, stepsFrom: 3 }, 'MAX_TOKENS'],
    [{ maxTokens: 1, stepsFrom: 5 }, undefined],
  ])('count from its latest life on: %j is %s', async (task, code) => {
    expect(await codeFor(task)).toBe(code)
  })

  it('count what summing up took in this life, and not before', async () => {
    const life = { stepsFrom: 3, maxTokens: 30 }
    expect(await codeFor(life, { summaries: [summary(3)] })).toBeUndefined()
    expect(await codeFor(life, { summaries: [summary(3), summary(6)] })).toBe('MAX_TOKENS')
  })
})

describe('a task’s money', () => {
  it('is what all of its lives have spent, with what summed them up', async () => {
    expect(await codeFor({ stepsFrom: 5 }, { maxCostUsd: 5 })).toBeUndefined()
    expect(await codeFor({ stepsFrom: 5 }, { maxCostUsd: 4.999_999_999 })).toBe('MAX_COST')
    expect(await codeFor({}, { maxCostUsd: 5, summaries: [summary(3)] })).toBe('MAX_COST')
  })

  it('is not limited without a price of the model', async () => {
    expect(await codeFor({}, { maxCostUsd: 10_000, price: null })).toBe('PRICE_UNKNOWN')
    expect(await codeFor({}, { price: null })).toBeUndefined()
  })

  it.each([
    [7, 3, 10, undefined],
    [7, 4, 10, 'MAX_COST'],
    [10, 0, 10, undefined],
    [11, 0, 10, 'MAX_COST'],
    [1, 1, undefined, undefined],
  ])('of which %i are spent, and %i come, is within %s: %s', (spent, coming, maxCost, code) => {
    expect(overMoney({ spent, coming, maxCost })?.code).toBe(code)
  })
})
