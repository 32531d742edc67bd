import type { Agent } from '../agent/agent.ts'
import type { ModelUsage } from '../llm/model.ts'
import { nanoOf, usdOf } from '../llm/price.ts'
import { stepsOf } from '../task/history.ts'
import { MAX_TREE_STEPS, type NotBegun } from '../task/ledger.ts'
import type { Task } from '../task/task.ts'
import type { AgentModel } from './agent-model.ts'
import type { Conversation } from './conversation.ts'
import { loopIn } from './loop.ts'

/** Why a task goes no further, as it is shown: a code, and what to do. */
export type Stop = { code: string; message: string }

/**
 * Why a task may take no further step, if it may not. Steps, tokens and loops are those of its
 * present life: whoever retries, continues or follows up gives it the same again. Money is that of
 * all its lives, against its agent's limit as it is now: what was spent doesn't come back.
 */
export const overLimit = async ({
  task,
  agent,
  model,
  conversation,
}: {
  task: Task
  agent: Pick<Agent, 'maxCostUsd'>
  model: AgentModel
  conversation: Conversation
}): Promise<Stop | undefined> => {
  const { steps, tokens } = lifeOf(task, conversation)
  if (steps >= task.maxSteps) return stop('MAX_STEPS', MAX_STEPS_WORDS)
  if (task.maxTokens !== undefined && tokens >= task.maxTokens)
    return stop('MAX_TOKENS', `The task has used its ${task.maxTokens} tokens.`)
  if (agent.maxCostUsd !== undefined && model.price === undefined) return unpriced(model)
  const over = overMoney({ spent: spentOf(conversation), maxCost: maxCostOf(agent) })
  if (over) return over
  const loop = await loopIn(conversation, task.stepsFrom)
  return loop === undefined ? undefined : stop('DOOM_LOOP', loop)
}

/** Whether a task has spent more than its agent lets it, or would with what comes. */
export const overMoney = ({
  spent,
  coming = 0,
  maxCost,
}: {
  spent: number
  coming?: number | undefined
  maxCost: number | undefined
}): Stop | undefined =>
  maxCost === undefined || spent + coming <= maxCost
    ? undefined
    : stop(
        'MAX_COST',
        `The task has cost ${told(spent)} so far, and its next request could make it more than the ${told(maxCost)} that its agent lets it cost. Raise the agent's max_cost_usd to go on.`,
      )

/** What a limit of the tree says that left too little, or that can't be held. */
export const notBegun = (why: Exclude<NotBegun, 'cancelled'>, model: AgentModel): Stop => {
  switch (why) {
    case 'steps':
      return stop(
        'MAX_TREE_STEPS',
        `The task and those that it belongs to have taken their ${MAX_TREE_STEPS} steps.`,
      )
    case 'tokens':
      return stop(
        'MAX_TREE_TOKENS',
        'The task and those that it belongs to have too few of their tokens left for another step.',
      )
    case 'money':
      return stop(
        'MAX_TREE_COST',
        'The task and those that it belongs to have too little of their money left for another step.',
      )
    case 'unpriced':
      return unpriced(model)
    default:
      return why satisfies never
  }
}

/** What a task may cost, in billionths of a dollar. */
export const maxCostOf = ({ maxCostUsd }: Pick<Agent, 'maxCostUsd'>): number | undefined =>
  maxCostUsd === undefined ? undefined : nanoOf(maxCostUsd)

/** What all of a task's own requests have cost, in billionths of a dollar. */
export const spentOf = ({ entries, summaries }: Conversation): number =>
  [...entries, ...summaries].reduce((sum, { cost }) => sum + (cost ?? 0), 0)

/** The steps of a task's present life, and what they have used, input and output together. */
const lifeOf = ({ stepsFrom }: Task, { entries, summaries }: Conversation) => {
  const steps = stepsOf(entries).slice(stepsFrom)
  const from = steps[0]?.seq ?? entries.length
  const rows = [...steps, ...summaries.filter(({ atSeq }) => atSeq >= from)]
  return { steps: steps.length, tokens: rows.reduce((sum, { usage }) => sum + totalOf(usage), 0) }
}

const totalOf = (usage: Pick<ModelUsage, 'inputTokens' | 'outputTokens'> | undefined): number =>
  usage ? usage.inputTokens + usage.outputTokens : 0

const unpriced = ({ provider, name }: AgentModel): Stop =>
  stop(
    'PRICE_UNKNOWN',
    `What this task may cost is limited, and nobody knows what "${provider}/${name}" costs. Give its price in an LLM configuration ("price") and let the agent use that, or take the limit away.`,
  )

const stop = (code: string, message: string): Stop => ({ code, message })

const told = (nano: number): string => `${usdOf(nano)} US dollars`

const MAX_STEPS_WORDS =
  'Max steps reached. Retry or continue the task, which counts its steps anew, or give its agent a higher max_steps first.'
