import { LambdaClient } from '@aws-sdk/client-lambda'

let client: LambdaClient | undefined

/**
 * The Lambda client, without the SDK's retries: an invocation whose answer was lost may have
 * run, and only the call's own record can tell.
 */
export const lambda = (): LambdaClient => {
  client ??= new LambdaClient({ maxAttempts: 1 })
  return client
}
