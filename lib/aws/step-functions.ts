import { SFNClient } from '@aws-sdk/client-sfn'

let client: SFNClient | undefined

/** The Step Functions client; region, endpoint and credentials come from the environment. */
export const stepFunctions = (): SFNClient => {
  client ??= new SFNClient({})
  return client
}
