import * as z from 'zod'
import type { ToolCall } from '../../lib/call/tool-call.ts'
import { decodePlace, encodePlace } from '../../lib/data/cursor.ts'
import { deleteObjects } from '../../lib/data/remove-objects.ts'
import { anyKey, governingUser } from '../../lib/http/access.ts'
import { runnableAgent } from '../../lib/http/agent-access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import { listOwner, OwnerQuery } from '../../lib/http/list-owner.ts'
import { nameSubject } from '../../lib/http/name-subject.ts'
import { presentCalls } from '../../lib/http/present-call.ts'
import { HistoryRow, presentHistory } from '../../lib/http/present-history.ts'
import { presentTask, presentTasks, TaskView, TaskWithCalls } from '../../lib/http/present-task.ts'
import { presentTaskEvent, TaskEventView } from '../../lib/http/present-task-event.ts'
import { presentOwnUsage, presentUsage } from '../../lib/http/present-usage.ts'
import { creationOf, sameRequest } from '../../lib/http/request.ts'
import { createRoom, type Room } from '../../lib/http/room.ts'
import { readableTask } from '../../lib/http/task-access.ts'
import { AgentId } from '../../lib/http/wire.ts'
import { createTask, MAX_PROMPT_CHARS } from '../../lib/task/create.ts'
import { listEvents } from '../../lib/task/event.ts'
import { getLedger } from '../../lib/task/ledger.ts'
import { listTasks, type TaskFilter, TaskStatus } from '../../lib/task/task.ts'
import { readConversation } from '../../lib/workflow/conversation.ts'
import { launch } from '../../lib/workflow/execution.ts'
import { childrenOf } from '../../lib/workflow/family.ts'
import { tools } from '../tools/index.ts'
import { deleteTaskEndpoints } from './tasks/delete.ts'
import { lifeTaskEndpoints } from './tasks/life.ts'

const TaskBody = z
  .strictObject({ agent_id: AgentId, prompt: z.string().min(1).max(MAX_PROMPT_CHARS) })
  .meta({ id: 'NewTask' })

const TasksQuery = OwnerQuery.extend({
  status: z
    .string()
    .transform(text => text.split(','))
    .pipe(z.array(TaskStatus).min(1))
    .optional()
    .describe(`States, with commas between them: ${TaskStatus.options.join(', ')}.`),
  agent_id: AgentId.optional().describe('Of this agent alone.'),
  top_level: z.literal('true').optional().describe('Without those that others have started.'),
})

const filterOf = ({ status, agent_id, top_level }: z.output<typeof TasksQuery>): TaskFilter => ({
  ...(status ? { status } : {}),
  ...(agent_id ? { agentId: agent_id } : {}),
  ...(top_level ? { isRoot: true } : {}),
})

/** A task shows so many of its calls; its history has them all. */
const MAX_SHOWN_CALLS = 200

const tag = 'Tasks'

export const endpoints = {
  createTask: endpoint(
    {
      method: 'POST',
      path: '/api/v1/tasks',
      tag,
      summary: 'Start a task',
      access: governingUser,
      isRepeatable: true,
      body: TaskBody,
      responses: { 200: TaskView, 201: TaskView },
      errors: ['NOT_FOUND', 'INVALID_STATE', 'IDEMPOTENCY_MISMATCH'],
    },
    async ({ subject: caller, body, idempotencyKey }) => {
      const agent = await runnableAgent(caller, body.agent_id)
      const { id, requestHash } = creationOf('task', {
        caller,
        route: 'tasks',
        body,
        idempotencyKey,
      })
      const { task, created } = await createTask({
        id,
        agent,
        prompt: body.prompt,
        requestHash,
        discard: deleteObjects,
        startedBy: caller.id,
      })
      await nameSubject(task)
      if (!created) sameRequest(task.requestHash, requestHash)
      await launch(task)
      return reply(created ? 201 : 200, await presentTask(task))
    },
  ),

  listTasks: endpoint(
    {
      method: 'GET',
      path: '/api/v1/tasks',
      tag,
      summary: 'List tasks',
      description:
        'Those of one’s own agents or of another principal’s; with an agent’s key, those of the agent. Newest first; with a filter a page may hold fewer than its limit and go on all the same.',
      access: anyKey,
      query: TasksQuery,
      isPaged: true,
      responses: { 200: z.array(TaskView) },
      errors: ['NOT_FOUND'],
    },
    async ({ caller, query, page }) => {
      const isAgentsOwn = caller.kind === 'agent' && query.principal_id === undefined
      const by = isAgentsOwn
        ? { agentId: caller.id }
        : { principalId: await listOwner(caller, query) }
      const { items, cursor } = await listTasks(by, { ...page, ...filterOf(query) })
      return replyPage(await presentTasks(items), cursor)
    },
  ),

  getTask: endpoint(
    {
      method: 'GET',
      path: '/api/v1/tasks/{id}',
      tag,
      summary: 'Show a task with its tool calls and what its tree has used',
      access: readableTask,
      responses: { 200: TaskWithCalls },
    },
    async ({ subject: task }) => {
      const [conversation, ledger] = await Promise.all([
        readConversation(task.id),
        getLedger(task.rootId),
      ])
      const room = createRoom()
      const { calls } = conversation
      return reply(200, {
        ...(await presentTask(task, room)),
        tool_call_count: calls.size,
        tool_calls: await presentLatest([...calls.values()], room),
        usage: presentUsage(ledger),
        own_usage: presentOwnUsage(conversation),
        spawned_sub_task_ids: await childrenOf(conversation),
      })
    },
  ),

  getTaskHistory: endpoint(
    {
      method: 'GET',
      path: '/api/v1/tasks/{id}/history',
      tag,
      summary: 'Show what was said, and what the tools answered',
      access: readableTask,
      isPaged: true,
      responses: { 200: z.array(HistoryRow) },
    },
    async ({ subject: task, page: { limit, cursor } }) => {
      const scope = `history:${task.id}`
      const { rows, next } = await presentHistory(await readConversation(task.id), {
        from: cursor === undefined ? 0 : decodePlace(cursor, scope),
        limit,
      })
      return replyPage(rows, next === undefined ? undefined : encodePlace(next, scope))
    },
  ),

  getTaskEvents: endpoint(
    {
      method: 'GET',
      path: '/api/v1/tasks/{id}/events',
      tag,
      summary: 'Show what happened to a task as a whole',
      description: 'Who began, stopped and continued it, and why it waited or ended; in order.',
      access: readableTask,
      isPaged: true,
      responses: { 200: z.array(TaskEventView) },
    },
    async ({ subject: task, page: { limit, cursor } }) => {
      const scope = `events:${task.id}`
      const after = cursor === undefined ? 0 : decodePlace(cursor, scope)
      const events = await listEvents(task.id, { after, limit: limit + 1 })
      const next = events.length > limit ? encodePlace(after + limit, scope) : undefined
      return replyPage(events.slice(0, limit).map(presentTaskEvent), next)
    },
  ),

  ...lifeTaskEndpoints,
  ...deleteTaskEndpoints,
}

export const handler = handlerOf(appOf(endpoints))

/** The latest calls, in order; where not all of them fit whole, the newest ones do. */
const presentLatest = async (calls: ToolCall[], room: Room) =>
  (await presentCalls(calls.slice(-MAX_SHOWN_CALLS).toReversed(), tools, room)).toReversed()
