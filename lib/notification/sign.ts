import { createHmac, randomBytes } from 'node:crypto'

// As Standard Webhooks says (https://www.standardwebhooks.com): HMAC-SHA256 over id, time and body.

const PREFIX = 'whsec_'
/** The standard asks for 24 to 64 bytes. */
const SECRET_BYTES = 32

/** A new signing secret, in the form that libraries of the standard take. */
export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

export type Message = { id: string; timestampSeconds: number; body: string }

/** What goes into `webhook-signature`: one signature for each secret, the current one first. */
export const signaturesOf = (message: Message, secrets: readonly string[]): string =>
  secrets.map(secret => `v1,${signatureOf(message, secret)}`).join(' ')

const signatureOf = ({ id, timestampSeconds, body }: Message, secret: string): string =>
  createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .update(`${id}.${timestampSeconds}.${body}`)
    .digest('base64')
