import * as z from 'zod'
import { getAgent } from '../../lib/agent/agent.ts'
import { notFound } from '../../lib/core/errors.ts'
import { idOf } from '../../lib/core/ids.ts'
import { governedTask, governingUser, readableTask } from '../../lib/http/access.ts'
import { authenticated, createApp, handlerOf } from '../../lib/http/app.ts'
import { presentCall } from '../../lib/http/present-call.ts'
import { presentTask } from '../../lib/http/present-task.ts'
import { creationOf, readBody, readPage, sameRequest } from '../../lib/http/request.ts'
import { textOf, toolCalls } from '../../lib/llm/message.ts'
import { governs } from '../../lib/principal/caller.ts'
import { createTask, MAX_PROMPT_CHARS } from '../../lib/task/create.ts'
import { getLedger } from '../../lib/task/ledger.ts'
import { listTasks } from '../../lib/task/task.ts'
import { cancelTask } from '../../lib/workflow/cancel.ts'
import {
  answerOf,
  type Conversation,
  callIdsOf,
  readConversation,
} from '../../lib/workflow/conversation.ts'
import { startGeneration } from '../../lib/workflow/execution.ts'

const TaskBody = z.strictObject({
  agent_id: idOf('agent'),
  prompt: z.string().min(1).max(MAX_PROMPT_CHARS),
})

const app = createApp()

app.post('/api/v1/tasks', authenticated, async context => {
  const caller = governingUser(context)
  const body = await readBody(context, TaskBody)
  const agent = await getAgent(body.agent_id)
  if (!governs(caller, agent.principalId)) throw notFound('agent', agent.id)
  const { id, requestHash } = creationOf(context, 'task', { caller, route: 'tasks', body })
  const { task, created } = await createTask({ id, agent, prompt: body.prompt, requestHash })
  if (!created) sameRequest(task.requestHash, requestHash)
  if (task.generation === 0) await startGeneration(task)
  return context.json({ data: await presentTask(task) }, created ? 201 : 200)
})

app.get('/api/v1/tasks', authenticated, async context => {
  const caller = context.get('caller')
  const by = caller.kind === 'agent' ? { agentId: caller.id } : { principalId: caller.principalId }
  const { items, cursor } = await listTasks(by, readPage(context))
  return context.json({
    data: await Promise.all(items.map(presentTask)),
    next_cursor: cursor ?? null,
  })
})

app.get('/api/v1/tasks/:id', authenticated, async context => {
  const task = await readableTask(context)
  const [{ calls }, ledger] = await Promise.all([readConversation(task.id), getLedger(task.rootId)])
  return context.json({
    data: {
      ...(await presentTask(task)),
      tool_calls: await Promise.all([...calls.values()].map(presentCall)),
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
  return context.json({ data: await presentHistory(await readConversation(task.id)) })
})

app.post('/api/v1/tasks/:id/cancel', authenticated, async context => {
  const task = await cancelTask(await governedTask(context))
  return context.json({ data: await presentTask(task) })
})

export const handler = handlerOf(app)

/** The conversation as rows: what tools answered stands after the step that asked. */
const presentHistory = async (conversation: Conversation) => {
  const rows = await Promise.all(
    conversation.entries.map(async entry => {
      const { content, createdAt: created_at } = entry
      if (content.role === 'user') return [{ role: 'user', text: content.text, created_at }]
      const ids = callIdsOf(entry)
      const calls = toolCalls(content).map(({ toolName, input }, index) => ({
        call_id: ids[index],
        tool: toolName,
        arguments: input,
      }))
      const answers = await Promise.all(
        ids.map(async (id, index) => ({
          role: 'tool',
          call_id: id,
          tool: calls[index]?.tool,
          answer: await answerOf(conversation.calls.get(id)),
        })),
      )
      return [
        {
          role: 'assistant',
          text: textOf(content),
          tool_calls: calls,
          model: entry.model ?? null,
          finish_reason: entry.finishReason ?? null,
          created_at,
        },
        ...answers.flatMap(({ answer, ...row }) =>
          answer ? [{ ...row, text: answer.content, is_error: answer.isError }] : [],
        ),
      ]
    }),
  )
  return rows.flat()
}
