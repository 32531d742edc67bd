import * as z from 'zod'
import { notFound } from '../core/errors.ts'
import { type Id, idOf, newNonce } from '../core/ids.ts'
import { is, type Where } from '../data/expression.ts'
import * as table from '../data/table.ts'
import type { TransactionWrite } from '../data/transact.ts'
import type { Estimate } from '../llm/estimate.ts'
import type { ModelUsage } from '../llm/model.ts'
import { placesOf, type Task } from './task.ts'

/** A request that was begun and whose cost nobody has told yet, by the name of its mark. */
const MARK_PREFIX = 'open#'
const Mark = z.object({ tokens: z.int(), cost: z.int() })

/**
 * What a tree of tasks has spent, what it may, and which of its tasks may spend no more. Money is
 * in billionths of a dollar.
 *
 * A request leaves a mark with what it is thought to cost before it is made, and whoever hears the
 * answer takes the mark away and writes the true cost, each in one write that done twice counts
 * once. A tick that dies in between leaves its mark: nobody will ever know whether that request was
 * made and paid. So it is never counted as spent, and is told by itself; but it stays taken from
 * what is left, since it may have been.
 */
const Row = z.looseObject({
  rootId: idOf('task'),
  /** Steps that were begun, and all requests, with those that asked again and those of summaries. */
  steps: z.int(),
  requests: z.int().default(0),
  inputTokens: z.int(),
  outputTokens: z.int(),
  cost: z.int().default(0),
  /** Requests to models without a price, whose cost is therefore not in that. */
  unpriced: z.int().default(0),
  /** What the tree may use; absent, there is no limit, and what is left says nothing. */
  maxTokens: z.int().optional(),
  maxCost: z.int().optional(),
  tokensLeft: z.int().default(0),
  costLeft: z.int().default(0),
  cancelled: z.set(z.string()).optional(),
  /** Those of them that are stopped so that they can be continued. */
  aborted: z.set(z.string()).optional(),
})

export const Ledger = Row.transform(row => {
  const marks = Object.entries(row).filter(([name]) => name.startsWith(MARK_PREFIX))
  return { ...row, open: new Map(marks.map(([name, mark]) => [name, Mark.parse(mark)])) }
})
export type Ledger = z.infer<typeof Ledger>

// Access patterns: the one ledger of a tree, by its root.
export const ledgerKey = (rootId: Id<'task'>): table.Key => ({
  pk: `ledger#${rootId}`,
  sk: 'ledger',
})

export type TreeLimits = { maxTokens?: number | undefined; maxCost?: number | undefined }

/** A new tree's ledger, with what its root's agent lets all of the tree use. */
export const emptyLedger = (
  rootId: Id<'task'>,
  { maxTokens, maxCost }: TreeLimits = {},
): z.input<typeof Row> => ({
  rootId,
  steps: 0,
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  cost: 0,
  unpriced: 0,
  ...(maxTokens === undefined ? {} : { maxTokens }),
  ...(maxCost === undefined ? {} : { maxCost }),
  tokensLeft: maxTokens ?? 0,
  costLeft: maxCost ?? 0,
})

export const getLedger = (rootId: Id<'task'>): Promise<Ledger | undefined> =>
  table.get(Ledger, ledgerKey(rootId))

/** What the requests of which nobody has heard are thought to have cost, together. */
export const openOf = ({ open }: Ledger): { requests: number; tokens: number; cost: number } => {
  const marks = [...open.values()]
  return {
    requests: marks.length,
    tokens: marks.reduce((sum, { tokens }) => sum + tokens, 0),
    cost: marks.reduce((sum, { cost }) => sum + cost, 0),
  }
}

/**
 * Steps of one tree at most: an agent's own limit is one task's, and a task can start others
 * without end.
 */
export const MAX_TREE_STEPS = 10_000

/** A request that may be made, for whoever hears its answer to book. */
export type Begun = { rootId: Id<'task'>; mark: string; estimate: Estimate }

/**
 * Why no request may be made: the task or one of its lineage was cancelled, or its tree has had its
 * steps, its tokens or its money. `unpriced`: the money is limited, and the model has no price.
 */
export type NotBegun = 'cancelled' | 'steps' | 'tokens' | 'money' | 'unpriced'

/**
 * Sets aside what a request may cost, before it is made: without this no model is asked. A step's
 * first request counts as a step.
 */
export const beginRequest = async (
  task: Pick<Task, 'id' | 'rootId' | 'lineage'>,
  estimate: Estimate,
  { isStep = true }: { isStep?: boolean } = {},
): Promise<Begun | NotBegun> => {
  const covering = [...task.lineage, task.id]
  const mark = `${MARK_PREFIX}${newNonce()}`
  const { tokens, cost = 0 } = estimate
  const outcome = await table.update(
    Ledger,
    ledgerKey(task.rootId),
    {
      set: { [mark]: { tokens, cost } },
      add: { ...(isStep ? { steps: 1 } : {}), requests: 1, tokensLeft: -tokens, costLeft: -cost },
    },
    {
      where: {
        [mark]: is.absent,
        cancelled: is.without(covering),
        ...(isStep ? { steps: is.below(MAX_TREE_STEPS) } : {}),
        any: enoughLeft(estimate),
      },
    },
  )
  const begun = { rootId: task.rootId, mark, estimate }
  const { item } = outcome
  if (!item) throw notFound('ledger', task.rootId)
  if (outcome.ok) return begun
  const isStopped = covering.some(id => item.cancelled?.has(id))
  // An earlier try of this very write has landed, and its answer was lost.
  if (item.open.has(mark)) {
    if (!isStopped) return begun
    // Nothing is asked any more, also where the ledger had let it through before.
    await bookRequest(begun, { inputTokens: 0, outputTokens: 0 }, 0)
  }
  if (isStopped) return 'cancelled'
  if (isStep && item.steps >= MAX_TREE_STEPS) return 'steps'
  if (item.maxTokens !== undefined && item.tokensLeft < tokens) return 'tokens'
  return estimate.cost === undefined ? 'unpriced' : 'money'
}

/** Each limit is none, or leaves enough. */
const enoughLeft = ({ tokens, cost }: Estimate): Where[] => {
  const ofTokens: Where[] = [{ maxTokens: is.absent }, { tokensLeft: is.atLeast(tokens) }]
  const ofMoney: Where[] = [
    { maxCost: is.absent },
    ...(cost === undefined ? [] : [{ costLeft: is.atLeast(cost) }]),
  ]
  return ofTokens.flatMap(one => ofMoney.map(other => ({ ...one, ...other })))
}

/**
 * Books what a request really used, in place of what was set aside for it; nothing, where the
 * provider refused it. Without a cost, its model has no price.
 */
export const bookRequest = async (
  { rootId, mark, estimate }: Begun,
  { inputTokens, outputTokens }: Pick<ModelUsage, 'inputTokens' | 'outputTokens'>,
  cost: number | undefined,
): Promise<void> => {
  // Where the mark is gone, an earlier try of this very write has landed.
  await table.update(
    Ledger,
    ledgerKey(rootId),
    {
      remove: [mark],
      add: {
        inputTokens,
        outputTokens,
        cost: cost ?? 0,
        unpriced: cost === undefined ? 1 : 0,
        tokensLeft: estimate.tokens - inputTokens - outputTokens,
        costLeft: (estimate.cost ?? 0) - (cost ?? 0),
      },
    },
    { where: { [mark]: is.present } },
  )
}

/**
 * Forbids a task, and with it all of whose lineage it is, to start another step: for good, or until
 * it is continued. Who was cancelled for good is not stopped for less.
 */
export const cancelSteps = (
  { id, rootId }: Pick<Task, 'id' | 'rootId'>,
  status: 'CANCELLED' | 'ABORTED' = 'CANCELLED',
) => {
  const ids = new Set([id])
  return status === 'CANCELLED'
    ? table.update(Ledger, ledgerKey(rootId), {
        add: { cancelled: ids },
        delete: { aborted: ids },
      })
    : table.update(
        Ledger,
        ledgerKey(rootId),
        { add: { cancelled: ids, aborted: ids } },
        { where: { cancelled: is.without([id]) } },
      )
}

/**
 * What a task that may take no step any more ends as: what was said of it, and of those in whose
 * place it goes on. One below a stopped task has nobody left to be continued for.
 */
export const endOfStopped = async (task: Task): Promise<'CANCELLED' | 'ABORTED'> => {
  const { cancelled, aborted } = (await getLedger(task.rootId)) ?? {}
  const stopped = [...task.lineage, task.id].filter(id => cancelled?.has(id))
  const places = placesOf(task)
  const canGoOn = stopped.length > 0 && stopped.every(id => aborted?.has(id) && places.includes(id))
  return canGoOn ? 'ABORTED' : 'CANCELLED'
}

/**
 * Takes that back, as a part of the move that lets a stopped task go on: also what was said of those
 * in whose place it does.
 */
export const allowSteps = (
  task: Pick<Task, 'id' | 'rootId' | 'parentId' | 'lineage'>,
): TransactionWrite => {
  const ids = new Set(placesOf(task))
  return {
    update: { delete: { cancelled: ids, aborted: ids } },
    key: ledgerKey(task.rootId),
  }
}
