import type { SendEmailCommandInput } from '@aws-sdk/client-sesv2'
import { type Client, createClient, sender } from './client.ts'
import { endpoint } from './endpoint.ts'
import { errorOf } from './json-command.ts'

const SILENCE_MS = 10_000

let client: Client | undefined

/** The SES client, which sends nothing twice: what is to be sent is tried again after a while. */
const ses = (): Client => {
  client ??= createClient({
    name: 'ses',
    endpoint: () => endpoint('email', 'SESV2'),
    attempts: 1,
    silenceMs: SILENCE_MS,
  })
  return client
}

export const sendEmail = /* @__PURE__ */ sender<SendEmailCommandInput, object>(ses, {
  name: 'SendEmail',
  action: 'ses:SendEmail',
  request: input => ({
    method: 'POST',
    path: '/v2/email/outbound-emails',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  }),
  response: () => ({}),
  error: errorOf,
})
