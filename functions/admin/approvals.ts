import * as z from 'zod'
import { Agent, agentKey } from '../../lib/agent/agent.ts'
import { approve, reject } from '../../lib/call/decision.ts'
import { type Admission, admit, gateKeys } from '../../lib/call/gate.ts'
import { invokeOperation } from '../../lib/call/invoke.ts'
import { keptName, typeOfKept } from '../../lib/call/kept-result.ts'
import { answerQuestion, MAX_ANSWER_CHARS } from '../../lib/call/question.ts'
import { settle } from '../../lib/call/settle.ts'
import { agentGone, isAgentOf, operationGone, refuse } from '../../lib/call/stored.ts'
import {
  argumentsOf,
  listWaiting,
  type ToolCall,
  waitsOnAPerson,
} from '../../lib/call/tool-call.ts'
import { AppError, notFound } from '../../lib/core/errors.ts'
import { presignedUrl } from '../../lib/data/presigned.ts'
import { batchGet } from '../../lib/data/table.ts'
import { governingUser } from '../../lib/http/access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import {
  answerableCall,
  decidableCall,
  readableCall,
  settleableCall,
} from '../../lib/http/call-access.ts'
import { presentDeciding } from '../../lib/http/deciding.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import { listOwner, OwnerQuery } from '../../lib/http/list-owner.ts'
import { Digest, presentCall, presentCalls, ToolCallView } from '../../lib/http/present-call.ts'
import { redirection, redirectTo } from '../../lib/http/redirect.ts'
import { objectOf } from '../../lib/http/request.ts'
import type { Caller } from '../../lib/principal/caller.ts'
import { DEFAULT_MAX_RESULT_CHARS } from '../../lib/tool/define.ts'
import { findTool } from '../../lib/tool/registry.ts'
import { elapseCall } from '../../lib/workflow/elapse-call.ts'
import { deliverTo, wake, wakeWrite } from '../../lib/workflow/wake.ts'
import { tools } from '../tools/index.ts'

/** A reason's length, in characters. */
const MAX_REASON_CHARS = 2_000

const ApproveBody = z
  .strictObject({
    digest: Digest,
    arguments: objectOf('arguments')
      .describe('In place of the arguments that the agent sent.')
      .optional(),
  })
  .meta({ id: 'Approval' })
const RejectBody = z
  .strictObject({ digest: Digest, reason: z.string().max(MAX_REASON_CHARS).optional() })
  .meta({ id: 'Rejection' })
const SettleBody = z
  .discriminatedUnion('ran', [
    z.strictObject({
      ran: z.literal(true),
      content: z
        .string()
        .max(DEFAULT_MAX_RESULT_CHARS)
        .describe('What the model reads as the call’s result.'),
    }),
    z.strictObject({ ran: z.literal(false) }),
  ])
  .meta({
    id: 'Settlement',
    description: 'What a person found out about a call that nobody knows the end of.',
  })

const AnswerBody = z
  .strictObject({ answer: z.string().min(1).max(MAX_ANSWER_CHARS) })
  .meta({ id: 'AnswerToQuestion' })

const OutputHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the output.')

const decidable = decidableCall(tools)

const tag = 'Approvals'
const common = { method: 'POST', tag, responses: { 200: ToolCallView } } as const

export const endpoints = {
  listApprovals: endpoint(
    {
      method: 'GET',
      path: '/api/v1/approvals',
      tag,
      summary: 'List the calls that wait on a person',
      description:
        'Those that ask for approval, those that ask a question and those to be settled, of tasks at any depth and of direct calls; of one’s own agents, or of another principal’s.',
      access: governingUser,
      query: OwnerQuery,
      isPaged: true,
      responses: { 200: z.array(ToolCallView) },
      errors: ['NOT_FOUND'],
    },
    async ({ subject, query, page }) => {
      const { items, cursor } = await listWaiting(await listOwner(subject, query), page)
      const calls = await Promise.all(items.map(call => elapseCall(call)))
      const waiting = calls.filter(waitsOnAPerson)
      const deciding = await presentDeciding(waiting, subject, tools)
      const views = await presentCalls(waiting, tools)
      return replyPage(
        views.map((view, index) => ({ ...view, who_decides: deciding[index] ?? null })),
        cursor,
      )
    },
  ),

  getToolCall: endpoint(
    {
      method: 'GET',
      path: '/api/v1/tool-calls/{id}',
      tag,
      summary: 'Show a tool call with its receipt',
      access: readableCall,
      responses: { 200: ToolCallView },
    },
    async ({ subject, caller }) => reply(200, await present(subject, caller)),
  ),

  getToolCallOutput: endpoint(
    {
      method: 'GET',
      path: '/api/v1/tool-calls/{id}/outputs/{hash}',
      tag,
      summary: 'Open what was too long to show of a call’s result',
      description:
        'As the result’s `full_output` names it: `results/<id>/<hash>`. The address works for a minute.',
      access: readableCall,
      params: { hash: OutputHash },
      responses: { 302: redirection },
    },
    async ({ context, subject, params: { hash } }) => {
      const name = keptName(subject.id, hash)
      const mimeType = await typeOfKept(name)
      if (mimeType === undefined) throw notFound('output', name)
      return redirectTo(context, await presignedUrl(name, { filename: hash, mimeType }))
    },
  ),

  approveToolCall: endpoint(
    {
      ...common,
      path: '/api/v1/tool-calls/{id}/approve',
      summary: 'Approve a tool call',
      description:
        'As it was seen, or with other arguments. The call then goes on by itself. Who may is in its `who_decides`.',
      access: decidable,
      body: ApproveBody,
      errors: [
        'DIGEST_MISMATCH',
        'INVALID_STATE',
        'TOOL_DISABLED',
        'OPERATION_DISABLED',
        'TOOL_UNAVAILABLE',
        'VALIDATION_ERROR',
        'SETTING_MISSING',
        'DECRYPTION_FAILED',
        'NOT_CONFIGURED',
      ],
    },
    async ({ subject: call, caller, body: { digest, arguments: edited } }) => {
      const admission = await readmit(call, edited ?? (await argumentsOf(call)))
      if (admission instanceof AppError) return goOn(await refuseOrphan(call, admission))
      const decided = await approve(call, {
        digest,
        by: caller.id,
        also: wakeWrites(call),
        admission,
        edited: edited !== undefined,
      })
      return goOn(decided)
    },
  ),

  rejectToolCall: endpoint(
    {
      ...common,
      path: '/api/v1/tool-calls/{id}/reject',
      summary: 'Reject a tool call',
      access: decidable,
      body: RejectBody,
      errors: ['DIGEST_MISMATCH', 'INVALID_STATE'],
    },
    async ({ subject: call, caller, body: { digest, reason } }) => {
      const decided = await reject(call, {
        digest,
        by: caller.id,
        also: wakeWrites(call),
        ...(reason === undefined ? {} : { reason }),
      })
      return goOn(decided)
    },
  ),

  settleToolCall: endpoint(
    {
      ...common,
      path: '/api/v1/tool-calls/{id}/settle',
      summary: 'Settle a call of which nobody knows whether it ran',
      access: settleableCall,
      body: SettleBody,
      errors: ['INVALID_STATE'],
    },
    async ({ subject: call, caller, body }) =>
      goOn(await settle(call, body, { by: caller.id, also: wakeWrites(call) })),
  ),

  answerToolCall: endpoint(
    {
      ...common,
      path: '/api/v1/tool-calls/{id}/answer',
      summary: 'Answer the question that a call asks',
      description: 'The answer is what the model reads of the call; the task goes on.',
      access: answerableCall,
      body: AnswerBody,
      errors: ['INVALID_STATE'],
    },
    async ({ subject: call, caller, body: { answer } }) =>
      goOn(await answerQuestion(call, answer, { by: caller.id, also: wakeWrites(call) })),
  ),
}

export const handler = handlerOf(appOf(endpoints))

/** A call as whoever may decide about it sees it. */
const present = async (call: ToolCall, caller: Caller) => {
  const [deciding = null] = await presentDeciding([call], caller, tools)
  return { ...(await presentCall(call, tools)), who_decides: deciding }
}

/** That the task has to look is written with the decision: a crash in between loses neither. */
const wakeWrites = ({ taskId }: ToolCall) => (taskId ? [wakeWrite(taskId)] : [])

/**
 * What the gate makes of a call now: settings may have changed, and so may the arguments. The error is
 * that of a call that can never run any more.
 */
const readmit = async (
  call: ToolCall,
  values: Record<string, unknown>,
): Promise<Admission | AppError> => {
  const tool = await findTool(tools, call.tool)
  const found = await batchGet(gateKeys(call.tool, call.agentId, call.principalId))
  const agent = found.get(Agent, agentKey(call.agentId))
  if (!isAgentOf(agent, call)) return agentGone()
  if (!tool || !Object.hasOwn(tool.operations, call.operation)) return operationGone(call)
  return admit({ agent, tool, operation: call.operation, values, found })
}

/** Ends a call that nobody can run any more, whatever was decided about it. */
const refuseOrphan = async (call: ToolCall, why: AppError): Promise<ToolCall> => {
  if (call.status !== 'PENDING_APPROVAL') throw why
  const refused = await refuse(call, why)
  if (call.taskId) await wake(call.taskId)
  return refused
}

/** What follows a decision: the task looks again, or the call outside of tasks runs. */
const goOn = async (call: ToolCall) => {
  if (call.taskId) await deliverTo(call.taskId)
  else if (call.status === 'APPROVED') await invokeOperation(call, 'event')
  return reply(200, await presentCall(call, tools))
}
