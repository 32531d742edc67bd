import * as z from 'zod'
import { notFound } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import type { TransactionWrite } from '../data/transact.ts'
import type { Task } from './task.ts'

/** What a tree of tasks has spent, and which of its tasks may spend no more. */
export const Ledger = z.object({
  rootId: idOf('task'),
  steps: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  cancelled: z.set(z.string()).optional(),
})
export type Ledger = z.infer<typeof Ledger>

// Access patterns: the one ledger of a tree, by its root.
export const ledgerKey = (rootId: Id<'task'>): table.Key => ({
  pk: `ledger#${rootId}`,
  sk: 'ledger',
})

export const emptyLedger = (rootId: Id<'task'>): Ledger => ({
  rootId,
  steps: 0,
  inputTokens: 0,
  outputTokens: 0,
})

export const getLedger = (rootId: Id<'task'>) => table.get(Ledger, ledgerKey(rootId))

/**
 * Steps of one tree at most: an agent's own limit is one task's, and a task can start others
 * without end.
 */
export const MAX_TREE_STEPS = 1_000

/**
 * Books a step before its model request is made. Where it says `cancelled`, the task or one of
 * its lineage was, and nothing is asked of a model after that; `spent`, its tree has had its steps.
 */
export const beginStep = async (task: Task): Promise<'begun' | 'cancelled' | 'spent'> => {
  const covering = [...task.lineage, task.id]
  const outcome = await table.update(
    Ledger,
    ledgerKey(task.rootId),
    { add: { steps: 1 } },
    {
      where: { cancelled: is.without(covering), steps: is.below(MAX_TREE_STEPS) },
    },
  )
  if (outcome.ok) return 'begun'
  if (!outcome.item) throw notFound('ledger', task.rootId)
  const { cancelled } = outcome.item
  return covering.some(id => cancelled?.has(id)) ? 'cancelled' : 'spent'
}

/** Books what a step's model request really used. */
export const bookUsage = (
  rootId: Id<'task'>,
  usage: { inputTokens: number; outputTokens: number },
) =>
  table.update(Ledger, ledgerKey(rootId), {
    add: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens },
  })

/** Forbids a task, and with it all of whose lineage it is, to start another step. */
export const cancelSteps = (task: Pick<Task, 'id' | 'rootId'>) =>
  table.update(Ledger, ledgerKey(task.rootId), { add: { cancelled: new Set([task.id]) } })

/** Takes that back, as a part of the move that lets a stopped task go on. */
export const allowSteps = ({ id, rootId }: Pick<Task, 'id' | 'rootId'>): TransactionWrite => ({
  update: { delete: { cancelled: new Set([id]) } },
  key: ledgerKey(rootId),
})
