import * as z from 'zod'
import { findAgent } from '../agent/agent.ts'
import { type Clock, isoIn, systemClock } from '../core/clock.ts'
import { AppError, hasCode } from '../core/errors.ts'
import { idOf } from '../core/ids.ts'
import { errorFields, log } from '../core/log.ts'
import { toolCalls } from '../llm/message.ts'
import type { Entry } from '../task/history.ts'
import { MAX_TREE_STEPS } from '../task/ledger.ts'
import { getTask, type Task, TERMINAL } from '../task/task.ts'
import type { ToolRegistry } from '../tool/registry.ts'
import { modelOf } from './agent-model.ts'
import { leaveNothing } from './cancel.ts'
import { type Conversation, readConversation } from './conversation.ts'
import { offersOf } from './discovery.ts'
import { startGeneration } from './execution.ts'
import { LEASE_LOST, takeLease, withRenewal, writeHeld } from './lease.ts'
import { MODEL_TIMEOUT_MS, modelStep } from './model-step.ts'
import { readCatalogue } from './offer.ts'
import {
  cancelled,
  complete,
  fail,
  handOn,
  handOver,
  outcomeOf,
  park,
  release,
  retryOrFail,
  type TickOutcome,
} from './outcome.ts'
import { CALL_RESERVE_MS, runStepCalls } from './step-calls.ts'
import { stateOfStep } from './waits.ts'

export const TickEvent = z.object({ taskId: idOf('task'), generation: z.int() })
export type TickEvent = z.infer<typeof TickEvent>

/** What a tick needs beside the rows. */
export type TickContext = {
  tools: ToolRegistry
  /** How long the function may still run, in milliseconds. */
  remainingMs: () => number
  clock?: Clock
}

/** Ticks of one execution. Each takes at most a dozen events of Step Functions' 25,000. */
export const MAX_TICKS_PER_GENERATION = 1_000
/** A step is begun only where a model request and the call after it would still fit. */
export const STEP_RESERVE_MS = MODEL_TIMEOUT_MS + CALL_RESERVE_MS
/** When a tick that lost its lease looks again. */
const LOST_RETRY_MS = 5_000

/**
 * Moves a task on under a lease: runs steps until the task waits, ends, or the time is nearly up.
 * May be killed anywhere and delivered twice: what is done is in rows, and what is not is found
 * missing by the next tick.
 */
export const tick = async (event: TickEvent, context: TickContext): Promise<TickOutcome> => {
  const clock = context.clock ?? systemClock
  const lease = await takeLease(event.taskId, event.generation, clock)
  if ('over' in lease) {
    // What the tick that ended it, or the one that it was taken from, did not come to.
    const task = await getTask(event.taskId)
    if (TERMINAL.includes(task.status)) await leaveNothing(task, clock)
    return outcomeOf('end')
  }
  if ('heldUntil' in lease) return outcomeOf('until', { until: lease.heldUntil })
  const { task } = lease
  try {
    if (task.ticks > MAX_TICKS_PER_GENERATION) return await continueAnew(task, clock)
    return await withRenewal(task, () => advance(task, context, clock), clock)
  } catch (error) {
    // Also of a lease that only seemed lost: a write landed, and its answer did not arrive.
    await release(task).catch(failure => {
      if (failure !== LEASE_LOST) log('warn', 'lease-not-released', errorFields(failure))
    })
    if (error === LEASE_LOST) return outcomeOf('until', { until: isoIn(LOST_RETRY_MS, clock) })
    throw error
  }
}

const advance = async (taken: Task, context: TickContext, clock: Clock): Promise<TickOutcome> => {
  let task = taken
  const agent = await findAgent(task.agentId)
  // Who got the agent has not asked for this task, nor who asked for it the settings that hold now.
  if (!agent || agent.principalId !== task.principalId) {
    const words = agent ? 'The agent of this task has moved.' : 'The agent of this task is gone.'
    const outcome = await fail(task, 'AGENT_GONE', words, clock)
    await leaveNothing(task, clock)
    return outcome
  }
  const model = await modelOf(agent).catch(refusalIn)
  if (model instanceof AppError) return fail(task, model.code, model.message, clock)
  const conversation = await readConversation(task.id)
  const catalogue = await readCatalogue(agent, context.tools, model)
  for (;;) {
    const last = conversation.entries.at(-1)
    if (last?.content.role === 'assistant') {
      if (toolCalls(last.content).length === 0) return complete(task, last, clock)
      // As they were when the model was asked: a search of this step has found nothing yet.
      const offers = await offersOf(catalogue, { ...conversation, entries: before(conversation) })
      const step = { task, agent, entry: last, catalogue, offers }
      const records = await runStepCalls(step, context.remainingMs, clock)
      if (!records) return handOn(task)
      const { state, calls } = await stateOfStep(records, clock)
      if (state.kind === 'waiting') return park(task, state, clock)
      if (state.kind === 'handed-over') {
        const outcome = await handOver(task, state, clock)
        await leaveNothing({ ...task, handoverTo: state.to }, clock)
        return outcome
      }
      for (const call of calls) conversation.calls.set(call.id, call)
    }
    if (stepsOf(conversation) >= task.maxSteps)
      return fail(task, 'MAX_STEPS', 'Max steps reached.', clock)
    if (task.maxTokens !== undefined && tokensOf(conversation) >= task.maxTokens)
      return fail(task, 'MAX_TOKENS', `The task has used its ${task.maxTokens} tokens.`, clock)
    if (context.remainingMs() < STEP_RESERVE_MS) return handOn(task)
    const offers = await offersOf(catalogue, conversation)
    const outcome = await ask({ task, agent, model, offers, conversation }, clock)
    if ('outcome' in outcome) return outcome
    conversation.entries.push(outcome)
    if (task.failures > 0) {
      await writeHeld(task, { set: { failures: 0 }, remove: ['error'] })
      task = { ...task, failures: 0 }
    }
  }
}

/** The next step's entry, or how the task goes on where the model gave none. */
const ask = async (
  step: Parameters<typeof modelStep>[0],
  clock: Clock,
): Promise<Entry | TickOutcome> => {
  try {
    const entry = await modelStep(step, clock)
    if (entry === 'cancelled') return await cancelled(step.task, clock)
    return entry === 'spent' ? await failSpent(step.task, clock) : entry
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    log('warn', 'model-request-failed', { taskId: step.task.id, ...errorFields(error) })
    if (!hasCode(error, 'MODEL_ERROR')) return fail(step.task, error.code, error.message, clock)
    return retryOrFail(step.task, error, clock)
  }
}

const failSpent = (task: Task, clock: Clock): Promise<TickOutcome> =>
  fail(
    task,
    'MAX_TREE_STEPS',
    `The task and those that it belongs to have taken their ${MAX_TREE_STEPS} steps.`,
    clock,
  )

const continueAnew = async (task: Task, clock: Clock): Promise<TickOutcome> => {
  await release(task)
  await startGeneration(task, clock)
  return outcomeOf('end')
}

const refusalIn = (error: unknown): AppError => {
  if (error instanceof AppError && error.code !== 'INTERNAL') return error
  throw error
}

/** What the steps of a task have used, input and output together; those below it count on their own. */
const tokensOf = ({ entries }: Conversation): number =>
  entries.reduce((sum, { usage }) => sum + (usage ? usage.inputTokens + usage.outputTokens : 0), 0)

/** The entries that the last one answers. */
const before = ({ entries }: Conversation): Entry[] => entries.slice(0, -1)

const stepsOf = ({ entries }: Conversation): number =>
  entries.filter(entry => entry.role === 'assistant').length
