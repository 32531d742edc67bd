import { SESv2Client } from '@aws-sdk/client-sesv2'

export { SendEmailCommand } from '@aws-sdk/client-sesv2'

let client: SESv2Client | undefined

/** The SES client, without the SDK's retries: what is to be sent is tried again after a while. */
export const ses = (): SESv2Client => {
  client ??= new SESv2Client({ maxAttempts: 1 })
  return client
}
