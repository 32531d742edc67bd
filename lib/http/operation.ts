import type { LambdaContext, LambdaEvent } from 'hono/aws-lambda'
import * as z from 'zod'
import { invokeWake } from '../call/invoke.ts'
import { runRequest } from '../call/request.ts'
import { runStored } from '../call/stored.ts'
import type { CallStatus } from '../call/tool-call.ts'
import { runFunction } from '../core/function.ts'
import { idOf } from '../core/ids.ts'
import type { Tool } from '../tool/define.ts'
import { createApp, handlerOf } from './app.ts'
import { presentRun } from './present-run.ts'
import { idempotencyKey, objectOf, readBody } from './request.ts'
import { credentialOf } from './session.ts'

/** The event of a tick, or of a decision outside of tasks: the id of a stored call. */
const StoredCall = z.strictObject({ callId: idOf('call') })

/** The header in which a user's key names the agent to act for. */
const AGENT_HEADER = 'espalier-agent'

/** Runs one operation: a stored call by its id, or what an HTTP request asks for. */
export const handleEvent = async (
  tool: Tool,
  event: unknown,
  context: unknown,
): Promise<unknown> => {
  const stored = StoredCall.safeParse(event)
  if (!stored.success) return appOf(tool)(event as LambdaEvent, context as LambdaContext)
  const { callId } = stored.data
  const { functionName, awsRequestId: requestId } = context as LambdaContext
  const call = await runFunction({ requestId, callId }, async () => {
    const ran = await runStored(tool, callId, { functionName })
    if (ran.isLong && ran.taskId) await invokeWake(callId)
    return ran
  })
  return { callId, status: call.status }
}

const apps = new WeakMap<Tool, ReturnType<typeof handlerOf>>()

const appOf = (tool: Tool) => {
  const known = apps.get(tool)
  if (known) return known
  const app = createApp().post('/api/v1/tools/:tool/operations/:operation', async context => {
    const credential = credentialOf(context)
    const agentId = context.req.header(AGENT_HEADER)
    const call = await runRequest(tool, {
      credential,
      operation: context.req.param('operation'),
      // Who can't prove who they are is told nothing about the rest of the request.
      read: async () => ({
        values: await readBody(context, Arguments),
        idempotencyKey: idempotencyKey(context),
      }),
      ...(agentId === undefined ? {} : { agentId }),
    })
    return context.json({ data: await presentRun(call) }, GOES_ON.includes(call.status) ? 202 : 200)
  })
  const handler = handlerOf(app)
  apps.set(tool, handler)
  return handler
}

/** The call has not ended: its record tells when it has. */
const GOES_ON: CallStatus[] = ['REQUESTED', 'PENDING_APPROVAL', 'APPROVED', 'STARTED', 'UNKNOWN']

const Arguments = objectOf('arguments')
