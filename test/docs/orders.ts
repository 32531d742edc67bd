import * as z from 'zod'
import { AppError, hasCode } from '../../lib/core/errors.ts'
import { serve } from '../../lib/http/serve.ts'
import { defineTool, type Middleware } from '../../lib/tool/define.ts'
import { result } from '../../lib/tool/result.ts'
import { setting } from '../../lib/tool/setting.ts'

const order_id = z
  .string()
  .regex(/^[A-Z]{2}\d{6}$/)
  .describe('The number of the order, such as DE123456.')

const explainOutage: Middleware = async ({ call }, next) => {
  try {
    return await next()
  } catch (cause) {
    if (!hasCode(cause, 'FETCH_FAILED')) throw cause
    const message = `The shop does not answer, so "${call.operation}" may not have worked.`
    throw new AppError('TOOL_UNAVAILABLE', message, { cause })
  }
}

export const tool = defineTool({
  name: 'orders',
  description: 'Looks up and cancels orders of our shop.',
  displayName: 'Orders',
  category: 'productivity',
  icon: 'package',
  settings: {
    region: setting.select({
      label: 'Region',
      options: ['eu', 'us'],
      default: 'eu',
      exposeToLlm: true,
    }),
    api_key: setting.password({ label: 'API key', required: true }),
    paused: setting.toggle({ label: 'Paused', default: false }),
  },
  available: ({ settings }) => !settings.paused,
  middleware: [explainOutage],
  operations: {
    look_up: {
      description: 'The state of one order.',
      parameters: z.object({ order_id }),
      effect: 'read',
      describe: ({ order_id }) => `Look up the order ${order_id}`,
      execute: async ({ parameters: { order_id }, settings: { region, api_key }, fetch }) => {
        const response = await fetch(`https://${region}.shop.example/orders/${order_id}`, {
          headers: { authorization: `Bearer ${api_key}` },
        })
        if (response.ok) return response
        throw new AppError('NOT_FOUND', `There is no order ${order_id}. Ask for its number again.`)
      },
    },
    cancel: {
      description: 'Cancel an order that was not sent yet.',
      parameters: z.object({
        order_id,
        reason: z.string().optional().describe('What the customer said.'),
      }),
      effect: 'idempotent',
      requiresApprovalByDefault: true,
      timeoutSeconds: 10,
      describe: ({ order_id, reason }) =>
        `Cancel the order ${order_id}${reason ? `: ${reason}` : ''}`,
      execute: async ({ parameters, settings, fetch, idempotencyKey }) => {
        const { order_id, reason } = parameters
        const response = await fetch(
          `https://${settings.region}.shop.example/orders/${order_id}/cancel`,
          {
            method: 'POST',
            headers: {
              authorization: `Bearer ${settings.api_key}`,
              'content-type': 'application/json',
              'idempotency-key': idempotencyKey,
            },
            body: JSON.stringify({ reason }),
          },
        )
        if (!response.ok) throw new AppError('INVALID_STATE', `${order_id} was sent already.`)
        return result({
          content: `The order ${order_id} is cancelled.`,
          data: { order_id, receipt: await response.json() },
        })
      },
    },
  },
})

export const handler = serve(tool)
