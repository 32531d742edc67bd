import type * as sdk from '@aws-sdk/client-sfn'
import { type Client, createClient } from './client.ts'
import { endpoint } from './endpoint.ts'
import { jsonCommand } from './json-command.ts'

const SILENCE_MS = 10_000

let client: Client | undefined

/** The Step Functions client; region, endpoint and credentials come from the environment. */
export const stepFunctions = (): Client => {
  client ??= createClient({
    name: 'states',
    endpoint: () => endpoint('states', 'SFN'),
    attempts: 3,
    silenceMs: SILENCE_MS,
  })
  return client
}

const command = <Input extends object, Output extends object>(action: string) =>
  jsonCommand<Input, Output>(stepFunctions, { target: 'AWSStepFunctions', action })

export const startExecution = /* @__PURE__ */ command<sdk.StartExecutionCommandInput, object>(
  'states:StartExecution',
)

export const describeExecution = /* @__PURE__ */ command<
  sdk.DescribeExecutionCommandInput,
  Pick<sdk.DescribeExecutionCommandOutput, 'status'>
>('states:DescribeExecution')

export const sendTaskSuccess = /* @__PURE__ */ command<sdk.SendTaskSuccessCommandInput, object>(
  'states:SendTaskSuccess',
)
