import * as z from 'zod'
import { type Agent, findAgent } from '../agent/agent.ts'
import { isAsking } from '../call/question.ts'
import type { ToolCall } from '../call/tool-call.ts'
import { type Clock, isoIn, systemClock } from '../core/clock.ts'
import { AppError, hasCode } from '../core/errors.ts'
import { idOf } from '../core/ids.ts'
import { addLogIds, errorFields, log } from '../core/log.ts'
import { toolCalls } from '../llm/message.ts'
import type { Notice } from '../notification/notice.ts'
import type { Entry } from '../task/history.ts'
import { getTasks, type Task, TERMINAL } from '../task/task.ts'
import type { ToolRegistry } from '../tool/registry.ts'
import { trace } from '../trace/tracing.ts'
import { modelOf } from './agent-model.ts'
import { type Heard, hearAtEnd, hearOfChildren } from './attention.ts'
import { leaveNothing } from './cancel.ts'
import { type Conversation, readConversation } from './conversation.ts'
import { offersOf } from './discovery.ts'
import { startGeneration } from './execution.ts'
import { LEASE_LOST, takeLease, withRenewal, writeHeld } from './lease.ts'
import { overLimit } from './limits.ts'
import type { ModelStep } from './model-step.ts'
import { nextStep } from './next-step.ts'
import { readCatalogue } from './offer.ts'
import {
  complete,
  fail,
  handOn,
  handOver,
  outcomeOf,
  park,
  queueForSlot,
  release,
  retryOrFail,
  stopped,
  type TickOutcome,
} from './outcome.ts'
import { MODEL_TIMEOUT_MS } from './paid-request.ts'
import { inSlot } from './slots.ts'
import { CALL_RESERVE_MS, runStepCalls } from './step-calls.ts'
import { tellStep } from './tell-step.ts'
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

/**
 * Ticks of one execution. Each has 7 to 15 events of Step Functions' 25,000 as a rule, and 460 where
 * every function fails as often as it is tried again, and another tick holds the lease.
 */
export const MAX_TICKS_PER_GENERATION = 50
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
    await clearUp(event.taskId, clock)
    return outcomeOf('end')
  }
  if ('heldUntil' in lease) return outcomeOf('until', { until: lease.heldUntil })
  const { task } = lease
  addLogIds({ agentId: task.agentId })
  await trace(({ nameTask }) => nameTask(task))
  try {
    if (task.ticks > MAX_TICKS_PER_GENERATION) return await continueAnew(task, clock)
    const work = () => inSlot(task, () => advance(task, context, clock), clock)
    const outcome = await withRenewal(task, work, clock)
    if (outcome === 'queued') return await queueForSlot(task, clock)
    if (outcome.outcome === 'end') await clearUp(task.id, clock)
    return outcome
  } catch (error) {
    // Also of a lease that only seemed lost: a write landed, and its answer did not arrive.
    await release(task).catch(failure => {
      if (failure !== LEASE_LOST) log('warn', 'lease-not-released', errorFields(failure))
    })
    if (error === LEASE_LOST) return outcomeOf('until', { until: isoIn(LOST_RETRY_MS, clock) })
    throw error
  }
}

/** Of a task that came to its end by itself, what it has started may go on; of others nothing does. */
const clearUp = async (taskId: Task['id'], clock: Clock): Promise<void> => {
  const [task] = await getTasks([taskId])
  // Whoever deleted it has left nothing.
  if (!task) return
  const isDone = task.status === 'COMPLETED' && task.handoverTo === undefined
  if (TERMINAL.includes(task.status) && !isDone) await leaveNothing(task, clock)
}

const advance = async (taken: Task, context: TickContext, clock: Clock): Promise<TickOutcome> => {
  let task = taken
  const agent = await findAgent(task.agentId)
  // Who got the agent has not asked for this task, nor who asked for it the settings that hold now.
  if (!agent || agent.principalId !== task.principalId) {
    const words = agent ? 'The agent of this task has moved.' : 'The agent of this task is gone.'
    return fail(task, 'AGENT_GONE', words, clock)
  }
  const model = await modelOf(agent, clock).catch(refusalIn)
  if (model instanceof AppError) return fail(task, model.code, model.message, clock)
  const called = { id: agent.id, name: agent.name, provider: model.provider, model: model.name }
  await trace(({ noteAgent }) => noteAgent(called))
  const conversation = await readConversation(task.id)
  const catalogue = await readCatalogue(agent, context.tools, model)
  for (;;) {
    const last = conversation.entries.at(-1)
    if (last?.content.role === 'assistant') {
      if (toolCalls(last.content).length === 0) {
        const heard = await atEnd({ task, agent, model, conversation, last }, clock)
        if (!heard) return complete(task, last, clock)
        if (!('entry' in heard))
          return park(task, { status: 'AWAITING_SUB_AGENTS', ...heard }, clock)
        conversation.entries.push(heard.entry)
        continue
      }
      // As they were when the model was asked: a search of this step has found nothing yet.
      const offers = await offersOf(catalogue, { ...conversation, entries: before(conversation) })
      const step = { task, agent, entry: last, catalogue, offers }
      const records = await runStepCalls(step, context.remainingMs, clock)
      if (!records) return handOn(task)
      const { state, calls } = await stateOfStep(records, clock)
      if (state.kind === 'waiting')
        return park(task, { ...state, tell: questionsOf(calls, agent) }, clock)
      if (state.kind === 'handed-over') return handOver(task, state, clock)
      for (const call of calls) conversation.calls.set(call.id, call)
    }
    const over = await overLimit({ task, agent, model, conversation })
    if (over) return fail(task, over.code, over.message, clock)
    if (context.remainingMs() < STEP_RESERVE_MS) return handOn(task)
    const heard = await hearOfChildren({ task, conversation }, clock)
    if (heard) conversation.entries.push(heard)
    const offers = await offersOf(catalogue, conversation)
    const outcome = await ask(
      { task, agent, model, offers, conversation },
      context.remainingMs,
      clock,
    )
    if ('outcome' in outcome) return outcome
    await tellStep(task, conversation)
    conversation.entries.push(outcome)
    if (task.failures > 0) {
      await writeHeld(task, { set: { failures: 0 }, remove: ['error'] })
      task = { ...task, failures: 0 }
    }
  }
}

/** What the task hears of its children before it ends; an answer that did not arrive whole is none. */
const atEnd = async (
  { last, ...step }: Parameters<typeof overLimit>[0] & { last: Entry },
  clock: Clock,
): Promise<Heard | undefined> => {
  if (last.finishReason === 'length' || last.finishReason === 'content-filter') return undefined
  return hearAtEnd(step, async () => (await overLimit(step)) !== undefined, clock)
}

/** What people are asked, whatever else the task waits for. */
const questionsOf = (calls: ToolCall[], { name: agentName }: Agent): Notice[] =>
  calls.filter(isAsking).map(call => ({ type: 'call.waiting', call, agentName }))

/** The next step's entry, or how the task goes on where the model gave none. */
const ask = async (
  step: ModelStep,
  remainingMs: () => number,
  clock: Clock,
): Promise<Entry | TickOutcome> => {
  const { task, agent } = step
  try {
    const entry = await nextStep(step, remainingMs, clock)
    if (entry === 'cancelled') return await stopped(task, clock)
    if (entry === 'hand-on') return await handOn(task)
    return 'code' in entry ? await fail(task, entry.code, entry.message, clock) : entry
  } catch (error) {
    if (!(error instanceof AppError) || hasCode(error, 'VERSION_TOO_NEW')) throw error
    log('warn', 'model-request-failed', { taskId: task.id, ...errorFields(error) })
    if (!hasCode(error, 'MODEL_ERROR')) return fail(task, error.code, error.message, clock)
    return retryOrFail(task, agent, error, clock)
  }
}

const continueAnew = async (task: Task, clock: Clock): Promise<TickOutcome> => {
  await release(task)
  await startGeneration(task, clock)
  return outcomeOf('end')
}

const refusalIn = (error: unknown): AppError => {
  if (error instanceof AppError && !hasCode(error, 'INTERNAL', 'VERSION_TOO_NEW')) return error
  throw error
}

/** The entries that the last one answers. */
const before = ({ entries }: Conversation): Entry[] => entries.slice(0, -1)
