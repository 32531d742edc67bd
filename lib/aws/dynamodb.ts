import type * as sdk from '@aws-sdk/client-dynamodb'
import { type Client, createClient } from './client.ts'
import { endpoint } from './endpoint.ts'
import { jsonCommand } from './json-command.ts'

/** DynamoDB answers within milliseconds, or has lost the request. */
const SILENCE_MS = 5_000

let client: Client | undefined

/** The DynamoDB client; region, endpoint and credentials come from the environment. */
export const dynamodb = (): Client => {
  client ??= createClient({
    name: 'dynamodb',
    endpoint: () => endpoint('dynamodb', 'DYNAMODB'),
    attempts: 4,
    silenceMs: SILENCE_MS,
  })
  return client
}

export const dynamodbCommand = <Input extends object, Output extends object>(action: string) =>
  jsonCommand<Input, Output>(dynamodb, { target: 'DynamoDB_20120810', action })

export const getItem = /* @__PURE__ */ dynamodbCommand<
  sdk.GetItemCommandInput,
  sdk.GetItemCommandOutput
>('dynamodb:GetItem')

export const batchGetItem = /* @__PURE__ */ dynamodbCommand<
  sdk.BatchGetItemCommandInput,
  sdk.BatchGetItemCommandOutput
>('dynamodb:BatchGetItem')

export const query = /* @__PURE__ */ dynamodbCommand<sdk.QueryCommandInput, sdk.QueryCommandOutput>(
  'dynamodb:Query',
)

export const putItem = /* @__PURE__ */ dynamodbCommand<
  sdk.PutItemCommandInput,
  sdk.PutItemCommandOutput
>('dynamodb:PutItem')

export const updateItem = /* @__PURE__ */ dynamodbCommand<
  sdk.UpdateItemCommandInput,
  sdk.UpdateItemCommandOutput
>('dynamodb:UpdateItem')

export const deleteItem = /* @__PURE__ */ dynamodbCommand<
  sdk.DeleteItemCommandInput,
  sdk.DeleteItemCommandOutput
>('dynamodb:DeleteItem')

/** A role must allow what is in it: `dynamodb:PutItem`, `UpdateItem`, `DeleteItem`, `ConditionCheckItem`. */
export const transactWriteItems = /* @__PURE__ */ dynamodbCommand<
  sdk.TransactWriteItemsCommandInput,
  sdk.TransactWriteItemsCommandOutput
>('dynamodb:TransactWriteItems')

export const scan = /* @__PURE__ */ dynamodbCommand<sdk.ScanCommandInput, sdk.ScanCommandOutput>(
  'dynamodb:Scan',
)
