import * as ses from '../aws/ses.ts'
import { optionalConfig } from '../core/config.ts'
import { errorFields, log } from '../core/log.ts'
import type { Delivery } from './delivery.ts'
import { TEST_EVENT } from './event.ts'
import { ATTEMPT_TIMEOUT_MS } from './limits.ts'
import type { Sent } from './send-webhook.ts'
import type { Subscription } from './subscription.ts'

const SUBJECTS: Record<Delivery['event'], string> = {
  'call.waiting': 'A tool call waits for you',
  'call.expiring': 'A tool call still waits, and not for much longer',
  'task.ended': 'A task has ended',
  [TEST_EVENT]: 'A test of your notices',
}

/** Sends a notice to a subscription's addresses, through SES. */
export const sendEmail = async (
  { emails }: Subscription & { emails: string[] },
  { id, event, body }: Pick<Delivery, 'id' | 'event'> & { body: string },
): Promise<Sent> => {
  const sender = optionalConfig('emailSender')
  if (sender === undefined) return { result: 'not-configured' }
  const email = {
    FromEmailAddress: sender,
    Destination: { ToAddresses: emails },
    Content: {
      Simple: {
        Subject: { Data: SUBJECTS[event], Charset: 'UTF-8' },
        Body: { Text: { Data: textOf(body), Charset: 'UTF-8' } },
      },
    },
  }
  try {
    await ses.sendEmail(email, { abortSignal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS) })
    return { result: 'delivered' }
  } catch (error) {
    log('warn', 'email-not-sent', { deliveryId: id, ...errorFields(error) })
    const httpStatus = statusOf(error)
    return httpStatus === undefined ? { result: 'unreachable' } : { result: 'status', httpStatus }
  }
}

const statusOf = (error: unknown): number | undefined => {
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } }
  return $metadata?.httpStatusCode
}

/** A notice as lines of words; where it is decided about is an address that can be opened. */
const textOf = (body: string): string => {
  const { data } = JSON.parse(body) as { data: Record<string, string | null> }
  const { path, ...told } = data
  const lines = Object.entries(told).flatMap(([name, value]) =>
    // A description is a tool's words: a line's end in it would look like a line of ours.
    value === null ? [] : `${name.replaceAll('_', ' ')}: ${value.replaceAll(/\s+/g, ' ')}`,
  )
  const origin = (optionalConfig('publicUrl') ?? '').replace(/\/+$/, '')
  return [...lines, '', ...(path ? [`${origin}${path}`] : [])].join('\n')
}
