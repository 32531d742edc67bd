import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Agent } from '../../../lib/agent/agent.ts'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { transact } from '../../../lib/data/transact.ts'
import { createTask } from '../../../lib/task/create.ts'
import {
  allowSteps,
  type Begun,
  beginRequest,
  bookRequest,
  cancelSteps,
  getLedger,
  Ledger,
  ledgerKey,
  MAX_TREE_STEPS,
  type NotBegun,
  openOf,
} from '../../../lib/task/ledger.ts'
import type { Task } from '../../../lib/task/task.ts'
import { agent } from '../../agent-row.ts'
import { useLocalTable } from '../../local-table.ts'
import { loseNextAnswer } from '../data/lost-answer.ts'

useLocalTable()

type Place = Pick<Task, 'rootId' | 'parentId' | 'lineage' | 'depth'>
const make = async (limits: Partial<Agent> = {}, place?: Place) =>
  (
    await createTask({
      id: newId('task'),
      agent: { ...agent, ...limits },
      prompt: 'Hello',
      ...(place ? { place } : {}),
    })
  ).task

const under = (parent: Task) =>
  make(
    {},
    {
      rootId: parent.rootId,
      parentId: parent.id,
      lineage: [...parent.lineage, parent.id],
      depth: parent.depth + 1,
    },
  )

const FREE = { tokens: 10, cost: 0 }
const ledgerOf = async ({ rootId }: Task): Promise<Ledger> => {
  const ledger = await getLedger(rootId)
  if (!ledger) throw new Error('There is no ledger.')
  return ledger
}
const begun = (outcome: Begun | NotBegun): Begun => {
  if (typeof outcome === 'string') throw new Error(outcome)
  return outcome
}

/** The write lands, its answer is lost, and the SDK tries it again. */
const losing = async <T>(write: () => Promise<T>): Promise<T> => {
  loseNextAnswer()
  try {
    return await write()
  } finally {
    dynamodb().middlewareStack.remove('lost-answer')
  }
}

describe('who may ask', () => {
  it('is everyone until they or one above them is cancelled, and not because of one below', async () => {
    const root = await make()
    const child = await under(root)
    const grandchild = await under(child)
    for (const task of [root, child, grandchild])
      expect(await beginRequest(task, FREE)).toMatchObject({ rootId: root.id })
    await cancelSteps(child)
    expect(await beginRequest(root, FREE)).toMatchObject({ rootId: root.id })
    expect(await beginRequest(child, FREE)).toBe('cancelled')
    expect(await beginRequest(grandchild, FREE, { isStep: false })).toBe('cancelled')
    await cancelSteps(root)
    expect(await beginRequest(root, FREE)).toBe('cancelled')
    await transact([allowSteps(root)])
    expect(await beginRequest(root, FREE)).toMatchObject({ rootId: root.id })
    expect(await beginRequest(child, FREE)).toBe('cancelled')
    await transact([allowSteps(child)])
    expect(await beginRequest(grandchild, FREE)).toMatchObject({ rootId: root.id })
  })

  it('is nobody who is cancelled before they hear that they may, and nothing stays set aside', async () => {
    const task = await make()
    let isLost = false
    dynamodb().middlewareStack.add(
      next => async asked => {
        const answer = await next(asked)
        if (isLost) return answer
        isLost = true
        // In between, as another process does it.
        await cancelSteps(task)
        throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' })
      },
      { step: 'finalizeRequest', priority: 'low', name: 'cancelled-meanwhile' },
    )
    try {
      expect(await beginRequest(task, FREE)).toBe('cancelled')
    } finally {
      dynamodb().middlewareStack.remove('cancelled-meanwhile')
    }
    expect(openOf(await ledgerOf(task))).toMatchObject({ requests: 0 })
  })

  it(`are ${MAX_TREE_STEPS} steps, and what asks again within one is none`, async () => {
    const root = await make()
    await table.update(Ledger, ledgerKey(root.id), { set: { steps: MAX_TREE_STEPS - 1 } })
    begun(await beginRequest(root, FREE))
    expect(await beginRequest(root, FREE)).toBe('steps')
    begun(await beginRequest(root, FREE, { isStep: false }))
    expect(await ledgerOf(root)).toMatchObject({ steps: MAX_TREE_STEPS, requests: 2 })
    await cancelSteps(root)
    expect(await beginRequest(root, FREE)).toBe('cancelled')
  })
})

describe('a tree’s limits', () => {
  it('leave room for an estimate exactly as long as so much is left', async () => {
    const root = await make({ maxTreeCostUsd: 0.000_001, maxTreeTokens: 100 })
    const first = begun(await beginRequest(root, { tokens: 60, cost: 600 }))
    expect(await beginRequest(root, { tokens: 41, cost: 0 })).toBe('tokens')
    expect(await beginRequest(root, { tokens: 40, cost: 401 })).toBe('money')
    expect(await beginRequest(root, { tokens: 40 })).toBe('unpriced')
    const second = begun(await beginRequest(root, { tokens: 40, cost: 400 }))
    expect(await beginRequest(root, { tokens: 1, cost: 0 })).toBe('tokens')
    // What was less than thought is there again.
    await bookRequest(first, { inputTokens: 10, outputTokens: 10 }, 100)
    await bookRequest(second, { inputTokens: 10, outputTokens: 30 }, 400)
    expect(await ledgerOf(root)).toMatchObject({ cost: 500, tokensLeft: 40, costLeft: 500 })
    begun(await beginRequest(root, { tokens: 40, cost: 500 }))
  })

  it('are those of the root’s agent, and hold for all below it', async () => {
    const root = await make({ maxTreeCostUsd: 1 })
    const child = await under(root)
    expect(await beginRequest(child, { tokens: 1, cost: 1_000_000_001 })).toBe('money')
    begun(await beginRequest(child, { tokens: 1, cost: 1_000_000_000 }))
    expect(await beginRequest(root, { tokens: 1, cost: 1 })).toBe('money')
  })

  it('are none where the agent says none, also to a model without a price', async () => {
    const root = await make()
    const request = begun(await beginRequest(root, { tokens: 1_000_000_000 }))
    await bookRequest(request, { inputTokens: 3, outputTokens: 4 }, undefined)
    expect(await ledgerOf(root)).toMatchObject({
      inputTokens: 3,
      outputTokens: 4,
      cost: 0,
      unpriced: 1,
    })
  })

  it('hold for whoever asks at once: together they begin no more than there is room for', async () => {
    const root = await make({ maxTreeCostUsd: 0.000_001 })
    const children = await Promise.all(Array.from({ length: 12 }, () => under(root)))
    const outcomes = await Promise.all(
      children.map(child => beginRequest(child, { tokens: 1, cost: 150 })),
    )
    expect(outcomes.filter(outcome => typeof outcome !== 'string')).toHaveLength(6)
    expect(outcomes.filter(outcome => outcome === 'money')).toHaveLength(6)
    expect((await ledgerOf(root)).costLeft).toBe(100)
  })
})

describe('what was spent', () => {
  it('is the sum of what was booked, each request once, whatever is lost in between', async () => {
    const request = fc.record({
      tokens: fc.nat(1_000),
      cost: fc.nat(1_000),
      used: fc.nat(1_000),
      paid: fc.nat(1_000),
      // Its tick dies before it hears of the answer; or an answer to one of its writes is lost.
      fate: fc.constantFrom('booked', 'dies', 'begin-lost', 'book-lost', 'book-twice'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 5 }), async requests => {
        const root = await make({ maxTreeCostUsd: 1, maxTreeTokens: 100_000 })
        const told = { cost: 0, tokens: 0 }
        const open = { requests: 0, cost: 0, tokens: 0 }
        for (const { tokens, cost, used, paid, fate } of requests) {
          const begin = () => beginRequest(root, { tokens, cost })
          const one = begun(await (fate === 'begin-lost' ? losing(begin) : begin()))
          if (fate === 'dies') {
            open.requests += 1
            open.cost += cost
            open.tokens += tokens
            continue
          }
          const book = () => bookRequest(one, { inputTokens: used, outputTokens: 1 }, paid)
          await (fate === 'book-lost' ? losing(book) : book())
          if (fate === 'book-twice') await book()
          told.cost += paid
          told.tokens += used + 1
        }
        const ledger = await ledgerOf(root)
        expect(ledger.cost).toBe(told.cost)
        expect(ledger.inputTokens + ledger.outputTokens).toBe(told.tokens)
        expect(openOf(ledger)).toEqual(open)
        expect(ledger.steps).toBe(requests.length)
        expect(ledger.costLeft).toBe(1_000_000_000 - told.cost - open.cost)
        expect(ledger.tokensLeft).toBe(100_000 - told.tokens - open.tokens)
      }),
      { numRuns: 15 },
    )
  })

  it('of many steps adds up to the last billionth', async () => {
    const root = await make()
    let sum = 0
    for (let step = 0; step < 50; step++) {
      const cost = 333_333_333 + step
      sum += cost
      const one = begun(await beginRequest(root, { tokens: 1, cost: 1 }))
      await bookRequest(one, { inputTokens: 1, outputTokens: 0 }, cost)
    }
    expect((await ledgerOf(root)).cost).toBe(sum)
  })
})
