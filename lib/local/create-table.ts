import {
  CreateTableCommand,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { dynamodb } from '../aws/dynamodb.ts'
import { INDEXES, PRIMARY_KEY, TTL_ATTRIBUTE } from '../data/definition.ts'

const MAX_WAIT_SECONDS = 30

/** Makes the table as a deploy would, and waits until it can be used; one that is there is left. */
export const createTable = async (name: string): Promise<void> => {
  const attributes = [PRIMARY_KEY, ...Object.values(INDEXES)].flatMap(({ hashKey, rangeKey }) => [
    hashKey,
    rangeKey,
  ])
  try {
    await dynamodb().send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: attributes.map(attribute => ({
          AttributeName: attribute,
          AttributeType: 'S',
        })),
        KeySchema: keySchema(PRIMARY_KEY),
        GlobalSecondaryIndexes: Object.entries(INDEXES).map(([index, keys]) => ({
          IndexName: index,
          KeySchema: keySchema(keys),
          Projection: { ProjectionType: 'ALL' },
        })),
      }),
    )
  } catch (error) {
    if (error instanceof ResourceInUseException) return
    throw error
  }
  const client = dynamodb()
  await waitUntilTableExists(
    { client, maxWaitTime: MAX_WAIT_SECONDS, minDelay: 1 },
    { TableName: name },
  )
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: name,
      TimeToLiveSpecification: { AttributeName: TTL_ATTRIBUTE, Enabled: true },
    }),
  )
}

const keySchema = ({ hashKey, rangeKey }: { hashKey: string; rangeKey: string }) => [
  { AttributeName: hashKey, KeyType: 'HASH' as const },
  { AttributeName: rangeKey, KeyType: 'RANGE' as const },
]
