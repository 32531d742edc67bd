import * as z from 'zod'
import { Agent, agentKey } from '../../lib/agent/agent.ts'
import { approve, reject } from '../../lib/call/decision.ts'
import { type Admission, admit, gateKeys } from '../../lib/call/gate.ts'
import { invokeOperation } from '../../lib/call/invoke.ts'
import { settle } from '../../lib/call/settle.ts'
import {
  argumentsOf,
  listWaiting,
  type ToolCall,
  WAITS_ON_A_PERSON,
} from '../../lib/call/tool-call.ts'
import { notFound } from '../../lib/core/errors.ts'
import { batchGet } from '../../lib/data/table.ts'
import { decidableCall, governingUser, readableCall } from '../../lib/http/access.ts'
import { authenticated, createApp, handlerOf } from '../../lib/http/app.ts'
import { presentCall, presentCalls } from '../../lib/http/present-call.ts'
import { objectOf, readBody, readPage } from '../../lib/http/request.ts'
import { DEFAULT_MAX_RESULT_CHARS } from '../../lib/tool/define.ts'
import { findTool } from '../../lib/tool/registry.ts'
import { elapseCall } from '../../lib/workflow/elapse-call.ts'
import { deliverTo, wakeWrite } from '../../lib/workflow/wake.ts'
import { tools } from '../tools/index.ts'

/** A reason's length, in characters. */
const MAX_REASON_CHARS = 2_000

const Digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be the digest of the call as you saw it: 64 hexadecimal digits')

const ApproveBody = z.strictObject({
  digest: Digest,
  /** In place of the arguments that the agent sent. */
  arguments: objectOf('arguments').optional(),
})
const RejectBody = z.strictObject({
  digest: Digest,
  reason: z.string().max(MAX_REASON_CHARS).optional(),
})
/** What a person found out about a call that nobody knows the end of. */
const SettleBody = z.discriminatedUnion('ran', [
  z.strictObject({
    ran: z.literal(true),
    /** What the model reads as the call's result. */
    content: z.string().max(DEFAULT_MAX_RESULT_CHARS),
  }),
  z.strictObject({ ran: z.literal(false) }),
])

const app = createApp()

app.get('/api/v1/approvals', authenticated, async context => {
  const { principalId } = governingUser(context)
  const { items, cursor } = await listWaiting(principalId, readPage(context))
  const calls = await Promise.all(items.map(call => elapseCall(call)))
  return context.json({
    data: await presentCalls(calls.filter(isWaiting)),
    next_cursor: cursor ?? null,
  })
})

app.get('/api/v1/tool-calls/:id', authenticated, async context =>
  context.json({ data: await presentCall(await readableCall(context)) }),
)

app.post('/api/v1/tool-calls/:id/approve', authenticated, async context => {
  const call = await decidableCall(context)
  const { digest, arguments: edited } = await readBody(context, ApproveBody)
  const decided = await approve(call, {
    digest,
    by: context.get('caller').id,
    also: wakeWrites(call),
    admission: await readmit(call, edited ?? (await argumentsOf(call))),
    edited: edited !== undefined,
  })
  await goOn(decided)
  return context.json({ data: await presentCall(decided) })
})

app.post('/api/v1/tool-calls/:id/reject', authenticated, async context => {
  const call = await decidableCall(context)
  const { digest, reason } = await readBody(context, RejectBody)
  const decided = await reject(call, {
    digest,
    by: context.get('caller').id,
    also: wakeWrites(call),
    ...(reason === undefined ? {} : { reason }),
  })
  await goOn(decided)
  return context.json({ data: await presentCall(decided) })
})

app.post('/api/v1/tool-calls/:id/settle', authenticated, async context => {
  const call = await decidableCall(context)
  const settled = await settle(call, await readBody(context, SettleBody), {
    by: context.get('caller').id,
    also: wakeWrites(call),
  })
  await goOn(settled)
  return context.json({ data: await presentCall(settled) })
})

export const handler = handlerOf(app)

const isWaiting = ({ status }: ToolCall): boolean => WAITS_ON_A_PERSON.includes(status)

/** That the task has to look is written with the decision: a crash in between loses neither. */
const wakeWrites = ({ taskId }: ToolCall) => (taskId ? [wakeWrite(taskId)] : [])

/** What the gate makes of a call now: settings may have changed, and so may the arguments. */
const readmit = async (call: ToolCall, values: Record<string, unknown>): Promise<Admission> => {
  const tool = await findTool(tools, call.tool)
  const found = await batchGet(gateKeys(call.tool, call.agentId, call.principalId))
  const agent = found.get(Agent, agentKey(call.agentId))
  if (!tool || !agent) throw notFound('tool', call.tool)
  return admit({ agent, tool, operation: call.operation, values, found })
}

/** What follows a decision: the task looks again, or the call outside of tasks runs. */
const goOn = async (call: ToolCall): Promise<void> => {
  if (call.taskId) await deliverTo(call.taskId)
  else if (call.status === 'APPROVED') await invokeOperation(call, 'event')
}
