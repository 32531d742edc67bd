import * as z from 'zod'
import { usdOf } from '../llm/price.ts'
import { stepsOf } from '../task/history.ts'
import { type Ledger, openOf } from '../task/ledger.ts'
import type { Conversation } from '../workflow/conversation.ts'
import type { Usage } from '../workflow/family.ts'
import { spentOf } from '../workflow/limits.ts'

const Spent = {
  steps: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
}
const Usd = z.number().describe('US dollars.')

export const UsageView = z
  .object({
    ...Spent,
    requests: z.int().describe('All that were made of models, also to ask again or to sum up.'),
    cost_usd: Usd,
    unpriced_requests: z
      .int()
      .describe('Requests to models without a price, whose cost is not in that.'),
    unconfirmed: z
      .object({ requests: z.int(), tokens: z.int(), cost_usd: Usd })
      .describe(
        'Requests that are on their way, or of which nobody knows what came of them, and what they are thought to cost. It is in no sum above, and counts against the tree’s limits.',
      ),
    max_tokens: z.int().nullable().describe('What the tree may use; null without a limit.'),
    max_cost_usd: z.number().nullable(),
  })
  .meta({ id: 'TreeUsage', description: 'Of the whole tree that the task is in.' })

export const OwnUsageView = z
  .object({
    ...Spent,
    cost_usd: Usd.nullable().describe('US dollars; null where a model without a price was asked.'),
  })
  .meta({ id: 'TaskUsage', description: 'Of the task’s own steps, in all of its lives.' })

export const FamilyUsageView = z
  .object({
    tasks: z.int(),
    ...Spent,
    cost_usd: Usd.nullable().describe('US dollars; null where a model without a price was asked.'),
  })
  .meta({
    id: 'FamilyUsage',
    description: 'Of the task, all below it and all that went on in their places.',
  })

/** What a task and all below it have used. */
export const presentFamilyUsage = (usage: Usage): z.infer<typeof FamilyUsageView> => ({
  tasks: usage.tasks,
  steps: usage.steps,
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  cost_usd: usage.cost === undefined ? null : usdOf(usage.cost),
})

/** What a tree has used. */
export const presentUsage = (ledger: Ledger | undefined): z.infer<typeof UsageView> => {
  const open = ledger ? openOf(ledger) : { requests: 0, tokens: 0, cost: 0 }
  return {
    steps: ledger?.steps ?? 0,
    input_tokens: ledger?.inputTokens ?? 0,
    output_tokens: ledger?.outputTokens ?? 0,
    requests: ledger?.requests ?? 0,
    cost_usd: usdOf(ledger?.cost ?? 0),
    unpriced_requests: ledger?.unpriced ?? 0,
    unconfirmed: {
      requests: open.requests,
      tokens: open.tokens,
      cost_usd: usdOf(open.cost),
    },
    max_tokens: ledger?.maxTokens ?? null,
    max_cost_usd: ledger?.maxCost === undefined ? null : usdOf(ledger.maxCost),
  }
}

/** What a task's own steps have used. */
export const presentOwnUsage = (conversation: Conversation): z.infer<typeof OwnUsageView> => {
  const { entries, summaries } = conversation
  const paid = [...entries, ...summaries].filter(({ usage }) => usage !== undefined)
  return {
    steps: stepsOf(entries).length,
    input_tokens: sum(paid.map(({ usage }) => usage?.inputTokens ?? 0)),
    output_tokens: sum(paid.map(({ usage }) => usage?.outputTokens ?? 0)),
    cost_usd: paid.every(({ cost }) => cost !== undefined) ? usdOf(spentOf(conversation)) : null,
  }
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0)
