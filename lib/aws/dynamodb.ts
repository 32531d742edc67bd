import { DynamoDBClient } from '@aws-sdk/client-dynamodb'

let client: DynamoDBClient | undefined

/** The DynamoDB client; region, endpoint and credentials come from the environment. */
export const dynamodb = (): DynamoDBClient => {
  client ??= new DynamoDBClient({})
  return client
}
