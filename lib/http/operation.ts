import type { LambdaContext, LambdaEvent } from 'hono/aws-lambda'
import { runRequest } from '../call/request.ts'
import type { CallStatus } from '../call/tool-call.ts'
import type { Tool } from '../tool/define.ts'
import { createApp, handlerOf } from './app.ts'
import { presentRun } from './present-run.ts'
import { idempotencyKey, objectOf, readBody } from './request.ts'
import { credentialOf } from './session.ts'

/** The header in which a user's key names the agent to act for. */
const AGENT_HEADER = 'espalier-agent'

/** Runs the operation that an HTTP request asks for. */
export const runByRequest = (tool: Tool, event: unknown, context: unknown): Promise<unknown> =>
  appOf(tool)(event as LambdaEvent, context as LambdaContext)

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
