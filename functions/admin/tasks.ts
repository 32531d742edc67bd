import * as z from 'zod'
import { getAgent } from '../../lib/agent/agent.ts'
import type { ToolCall } from '../../lib/call/tool-call.ts'
import { notFound } from '../../lib/core/errors.ts'
import { idOf } from '../../lib/core/ids.ts'
import { decodePlace, encodePlace } from '../../lib/data/cursor.ts'
import { governedTask, governingUser, readableTask } from '../../lib/http/access.ts'
import { authenticated, createApp, handlerOf } from '../../lib/http/app.ts'
import { presentCalls } from '../../lib/http/present-call.ts'
import { presentHistory } from '../../lib/http/present-history.ts'
import { presentTask, presentTasks } from '../../lib/http/present-task.ts'
import { creationOf, readBody, readPage, sameRequest } from '../../lib/http/request.ts'
import { createRoom, type Room } from '../../lib/http/room.ts'
import { governs } from '../../lib/principal/caller.ts'
import { createTask, MAX_PROMPT_CHARS } from '../../lib/task/create.ts'
import { getLedger } from '../../lib/task/ledger.ts'
import { listTasks } from '../../lib/task/task.ts'
import { cancelTask } from '../../lib/workflow/cancel.ts'
import { readConversation } from '../../lib/workflow/conversation.ts'
import { launch } from '../../lib/workflow/execution.ts'

const TaskBody = z.strictObject({
  agent_id: idOf('agent'),
  prompt: z.string().min(1).max(MAX_PROMPT_CHARS),
})

/** A task shows so many of its calls; its history has them all. */
const MAX_SHOWN_CALLS = 200

const app = createApp()

app.post('/api/v1/tasks', authenticated, async context => {
  const caller = governingUser(context)
  const body = await readBody(context, TaskBody)
  const agent = await getAgent(body.agent_id)
  if (!governs(caller, agent.principalId)) throw notFound('agent', agent.id)
  const { id, requestHash } = creationOf(context, 'task', { caller, route: 'tasks', body })
  const { task, created } = await createTask({ id, agent, prompt: body.prompt, requestHash })
  if (!created) sameRequest(task.requestHash, requestHash)
  await launch(task)
  return context.json({ data: await presentTask(task) }, created ? 201 : 200)
})

app.get('/api/v1/tasks', authenticated, async context => {
  const caller = context.get('caller')
  const by = caller.kind === 'agent' ? { agentId: caller.id } : { principalId: caller.principalId }
  const { items, cursor } = await listTasks(by, readPage(context))
  return context.json({ data: await presentTasks(items), next_cursor: cursor ?? null })
})

app.get('/api/v1/tasks/:id', authenticated, async context => {
  const task = await readableTask(context)
  const [{ calls }, ledger] = await Promise.all([readConversation(task.id), getLedger(task.rootId)])
  const room = createRoom()
  return context.json({
    data: {
      ...(await presentTask(task, room)),
      tool_call_count: calls.size,
      tool_calls: await presentLatest([...calls.values()], room),
      // Of the whole tree that the task is in.
      usage: {
        steps: ledger?.steps ?? 0,
        input_tokens: ledger?.inputTokens ?? 0,
        output_tokens: ledger?.outputTokens ?? 0,
      },
    },
  })
})

app.get('/api/v1/tasks/:id/history', authenticated, async context => {
  const task = await readableTask(context)
  const { limit, cursor } = readPage(context)
  const scope = `history:${task.id}`
  const { rows, next } = await presentHistory(await readConversation(task.id), {
    from: cursor === undefined ? 0 : decodePlace(cursor, scope),
    limit,
  })
  return context.json({
    data: rows,
    next_cursor: next === undefined ? null : encodePlace(next, scope),
  })
})

app.post('/api/v1/tasks/:id/cancel', authenticated, async context => {
  const task = await cancelTask(await governedTask(context))
  return context.json({ data: await presentTask(task) })
})

export const handler = handlerOf(app)

/** The latest calls, in order; where not all of them fit whole, the newest ones do. */
const presentLatest = async (calls: ToolCall[], room: Room) =>
  (await presentCalls(calls.slice(-MAX_SHOWN_CALLS).toReversed(), room)).toReversed()
