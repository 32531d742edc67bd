import { addLogIds, type Invocation, invocation } from '../core/log.ts'
import { callSpanId, spanIdOf, taskSpanId, traceIdOf } from './ids.ts'
import { addSpan } from './outbox.ts'
import type { Span } from './span.ts'
import type { NamedAgent, TracedCall, TracedRequest, TracedTask } from './traced.ts'

export { sendOn } from './outbox.ts'

// https://github.com/open-telemetry/semantic-conventions-genai (docs/gen-ai/gen-ai-spans.md and
// gen-ai-agent-spans.md, in development, on semantic conventions 1.41.1). What is said, what tools
// are given and what they give is in none of them: ids, names, counts and times alone.

/** From now on the lines of the log name the task's span. */
export const nameTask = (task: Pick<TracedTask, 'id' | 'rootId' | 'life'>): void =>
  addLogIds({ traceId: traceIdOf(task.rootId), spanId: taskSpanId(task) })

/** From now on the lines of the log name the call's span. */
export const nameCall = ({ id, rootId = id }: Pick<TracedCall, 'id' | 'rootId'>): void =>
  addLogIds({ traceId: traceIdOf(rootId), spanId: callSpanId(id) })

const agents = new WeakMap<Invocation, Map<string, NamedAgent>>()

/** Keeps how an agent is called for what this run of a function tells of its tasks. */
export const noteAgent = (agent: NamedAgent): void => {
  const run = invocation()
  if (run) agents.set(run, new Map(agents.get(run)).set(agent.id, agent))
}

/** Tells of a task that has ended: its parent is the call that asked for it. */
export const tellTask = (task: TracedTask): void => {
  const { id, rootId, agentId, spawn, handoverTo, error, life = 0 } = task
  const traceId = traceIdOf(rootId)
  const run = invocation()
  const agent = run && agents.get(run)?.get(agentId)
  addSpan({
    traceId,
    spanId: taskSpanId(task),
    parentSpanId: spawn && callSpanId(spawn.callId),
    name: named('invoke_agent', agent?.name),
    kind: 'internal',
    startedAt: Date.parse(task.begunAt ?? task.createdAt),
    endedAt: timeOf(task.endedAt),
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': providerOf(agent?.provider),
      'gen_ai.request.model': agent?.model,
      'gen_ai.agent.id': agentId,
      'gen_ai.agent.name': agent?.name,
      'gen_ai.conversation.id': id,
      'espalier.task.status': task.status,
      'espalier.task.root_id': rootId,
      'espalier.task.life': life > 0 ? life : undefined,
      'error.type': error?.code,
    },
    isError: task.status === 'FAILED',
    links: [
      ...(handoverTo === undefined ? [] : [linkTo(traceId, { id: handoverTo }, 'handed-over-to')]),
      ...(life === 0 ? [] : [linkTo(traceId, { id, life: life - 1 }, 'goes-on-from')]),
    ],
  })
}

/**
 * Tells of the calls of a task's step, which are over for it; those of an earlier life were told of
 * by then.
 */
export const tellCalls = (
  task: TracedTask,
  { createdAt }: { createdAt: string },
  calls: readonly TracedCall[],
): void => {
  if (createdAt < (task.begunAt ?? '')) return
  for (const call of calls) tellCall(call, task)
}

/** Tells of a call: of one outside of tasks, it is a trace of its own. */
export const tellCall = (call: TracedCall, task?: TracedTask): void => {
  const { id, rootId = id, startedAt, decidedAt, status } = call
  const name = nameOf(call)
  const errorType = ERRORS.includes(status) ? status.toLowerCase() : undefined
  addSpan({
    traceId: traceIdOf(rootId),
    spanId: callSpanId(id),
    parentSpanId: task && taskSpanId(task),
    name: named('execute_tool', name),
    kind: 'internal',
    startedAt: Date.parse(call.createdAt),
    endedAt: timeOf(call.answeredAt ?? call.endedAt ?? task?.endedAt),
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name ?? '_OTHER',
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.type': 'function',
      'gen_ai.agent.id': call.agentId,
      'gen_ai.conversation.id': call.taskId,
      'espalier.call.status': status,
      'espalier.call.runs': call.runs,
      'espalier.call.requires_approval': call.requiresApproval,
      'espalier.call.approval_wait_ms':
        decidedAt === undefined ? undefined : Date.parse(decidedAt) - Date.parse(call.createdAt),
      'error.type': errorType,
    },
    isError: errorType !== undefined,
    events: [
      ...(decidedAt === undefined ? [] : [{ name: 'call-decided', at: Date.parse(decidedAt) }]),
      ...(startedAt === undefined ? [] : [{ name: 'call-started', at: Date.parse(startedAt) }]),
    ],
  })
}

/** Tells of a request to a model. */
export const tellRequest = (request: TracedRequest): void => {
  const { task, provider, model, response, errorType } = request
  const usage = response?.usage
  addSpan({
    traceId: traceIdOf(task.rootId),
    spanId: spanIdOf('request', task.rootId, request.mark),
    parentSpanId: taskSpanId(task),
    name: `chat ${model}`,
    kind: 'client',
    startedAt: request.startedAt,
    endedAt: request.endedAt,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerOf(provider),
      'gen_ai.request.model': model,
      'gen_ai.request.stream': true,
      'gen_ai.response.id': response?.id,
      'gen_ai.response.model': response?.model,
      'gen_ai.response.finish_reasons': response && [response.finishReason],
      'gen_ai.usage.input_tokens': usage?.inputTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
      'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens,
      'gen_ai.agent.id': task.agentId,
      'gen_ai.conversation.id': task.id,
      'espalier.cost.usd': response?.cost,
      'error.type': errorType,
    },
    isError: response === undefined,
  })
}

/** The states of a call that is over in which it did not do what it was asked for. */
const ERRORS = ['FAILED', 'REJECTED', 'EXPIRED', 'UNKNOWN']

/** What a model asked for and nobody has is its own words, and is not repeated. */
const nameOf = ({ tool, operation, status, startedAt, requiresApproval }: TracedCall) => {
  if (status === 'FAILED' && startedAt === undefined && !requiresApproval) return undefined
  return operation === '' ? tool : `${tool}.${operation}`
}

const named = (operation: string, name: string | undefined): string =>
  name === undefined ? operation : `${operation} ${name}`

/** As the conventions call the providers that they know. */
const PROVIDERS: Record<string, string> = { google: 'gcp.gemini', xai: 'x_ai' }
const providerOf = (provider = 'espalier'): string => PROVIDERS[provider] ?? provider

const timeOf = (at: string | undefined): number => (at === undefined ? Date.now() : Date.parse(at))

const linkTo = (
  traceId: string,
  task: { id: string; life?: number },
  relation: string,
): NonNullable<Span['links']>[number] => ({
  traceId,
  spanId: taskSpanId(task),
  attributes: { 'espalier.link': relation },
})
