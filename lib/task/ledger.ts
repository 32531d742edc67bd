import * as z from 'zod'
import { type Id, idOf } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
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
 * Books a step before its model request is made; false where the task or one of its lineage
 * was cancelled, so that nothing is asked of a model after that.
 */
export const beginStep = async (task: Task): Promise<boolean> => {
  const outcome = await table.update(
    Ledger,
    ledgerKey(task.rootId),
    { add: { steps: 1 } },
    {
      where: { cancelled: is.without([...task.lineage, task.id]) },
    },
  )
  return outcome.ok
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
