import * as z from 'zod'
import { sha256 } from '../../../lib/call/digest.ts'
import { runnableAgent } from '../../../lib/http/agent-access.ts'
import { endpoint, reply } from '../../../lib/http/endpoint.ts'
import { presentTask, TaskView } from '../../../lib/http/present-task.ts'
import { FamilyUsageView, presentFamilyUsage } from '../../../lib/http/present-usage.ts'
import { governedTask } from '../../../lib/http/task-access.ts'
import type { Caller } from '../../../lib/principal/caller.ts'
import { MAX_PROMPT_CHARS } from '../../../lib/task/create.ts'
import type { Task } from '../../../lib/task/task.ts'
import { beginAnew, type NewLife } from '../../../lib/workflow/begin-anew.ts'
import { abortTask, cancelTask } from '../../../lib/workflow/cancel.ts'
import { usageOf } from '../../../lib/workflow/family.ts'

const Prompt = z.string().min(1).max(MAX_PROMPT_CHARS)
const FollowUpBody = z.strictObject({ prompt: Prompt }).meta({ id: 'FollowUp' })
const ContinueBody = z
  .strictObject({
    prompt: Prompt.optional().describe('What the agent is told first; else it goes on as it was.'),
  })
  .meta({ id: 'Continuation' })
const RetryBody = z.strictObject({}).meta({ id: 'Retry' })

const StoppedTask = TaskView.extend({ used: FamilyUsageView }).meta({ id: 'StoppedTask' })

const tag = 'Tasks'
const common = {
  method: 'POST',
  tag,
  access: governedTask,
  responses: { 200: TaskView },
} as const
const anew = {
  ...common,
  isRepeatable: true,
  errors: ['INVALID_STATE', 'IDEMPOTENCY_MISMATCH'],
} as const

/** What a person does with a task as a whole. */
export const lifeTaskEndpoints = {
  cancelTask: endpoint(
    {
      ...common,
      path: '/api/v1/tasks/{id}/cancel',
      summary: 'Cancel a task for good',
      description:
        'Ends the task, all below it and who goes on in its place; answers with the last of them, and with what all of them had used.',
      responses: { 200: StoppedTask },
    },
    async ({ subject, caller }) =>
      reply(200, await presentStopped(subject, await cancelTask(subject, { by: caller.id }))),
  ),

  abortTask: endpoint(
    {
      ...common,
      path: '/api/v1/tasks/{id}/abort',
      summary: 'Stop a task so that it can be continued',
      description:
        'No model is asked any more; what is below the task is cancelled. A task that has ended stays as it is. Answers with what all of them had used.',
      responses: { 200: StoppedTask },
    },
    async ({ subject, caller }) =>
      reply(200, await presentStopped(subject, await abortTask(subject, { by: caller.id }))),
  ),

  continueTask: endpoint(
    {
      ...anew,
      path: '/api/v1/tasks/{id}/continue',
      summary: 'Let an aborted or failed task go on',
      description:
        'Under the same id, with its history; its steps are counted anew, and its agent’s limits are those of now.',
      body: ContinueBody,
    },
    async ({ subject, caller, body, idempotencyKey }) =>
      goOn(subject, caller, { type: 'continued', body, idempotencyKey }),
  ),

  retryTask: endpoint(
    {
      ...anew,
      path: '/api/v1/tasks/{id}/retry',
      summary: 'Try a failed task again',
      description: 'From where it failed, with its history; its steps are counted anew.',
      body: RetryBody,
    },
    async ({ subject, caller, body, idempotencyKey }) =>
      goOn(subject, caller, { type: 'retried', body, idempotencyKey }),
  ),

  followUpTask: endpoint(
    {
      ...anew,
      path: '/api/v1/tasks/{id}/follow-up',
      summary: 'Say more to a task that is completed',
      description: 'The agent goes on with all that was said, if it takes follow-ups.',
      body: FollowUpBody,
    },
    async ({ subject, caller, body, idempotencyKey }) =>
      goOn(subject, caller, { type: 'followed-up', body, idempotencyKey }),
  ),
}

/** Whoever stands in a task's place by now, with what the task and all that belongs to it had used. */
const presentStopped = async (task: Task, last: Task) => ({
  ...(await presentTask(last)),
  used: presentFamilyUsage(await usageOf(task)),
})

type Ask = {
  type: NewLife['type']
  body: { prompt?: string | undefined }
  idempotencyKey: string | undefined
}

const goOn = async (task: Task, caller: Caller, { type, body, idempotencyKey }: Ask) => {
  const agent = await runnableAgent(caller, task.agentId)
  const { prompt } = body
  const begun = await beginAnew(task, agent, {
    type,
    by: caller.id,
    ...(prompt === undefined ? {} : { prompt }),
    ...(idempotencyKey === undefined
      ? {}
      : {
          request: {
            id: sha256([caller.id, task.id, idempotencyKey]),
            hash: sha256({ type, ...body }),
          },
        }),
  })
  return reply(200, await presentTask(begun))
}
