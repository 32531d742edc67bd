import { setTimeout as sleep } from 'node:timers/promises'
import type * as sdk from '@aws-sdk/client-dynamodb'
import { dynamodbCommand } from '../aws/dynamodb.ts'
import { isAnswer } from '../aws/service-error.ts'
import { INDEXES, PRIMARY_KEY, TTL_ATTRIBUTE } from '../data/definition.ts'

const POLL_MS = 100

const create = dynamodbCommand<sdk.CreateTableCommandInput, object>('dynamodb:CreateTable')
const describe = dynamodbCommand<sdk.DescribeTableCommandInput, sdk.DescribeTableCommandOutput>(
  'dynamodb:DescribeTable',
)
const setTimeToLive = dynamodbCommand<sdk.UpdateTimeToLiveCommandInput, object>(
  'dynamodb:UpdateTimeToLive',
)

/** Makes the table as a deploy would, and waits until it can be used; one that is there is left. */
export const createTable = async (name: string): Promise<void> => {
  const attributes = [PRIMARY_KEY, ...Object.values(INDEXES)].flatMap(({ hashKey, rangeKey }) => [
    hashKey,
    rangeKey,
  ])
  try {
    await create({
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
    })
  } catch (error) {
    if (isAnswer(error, 'ResourceInUseException')) return
    throw error
  }
  while ((await describe({ TableName: name })).Table?.TableStatus !== 'ACTIVE') await sleep(POLL_MS)
  await setTimeToLive({
    TableName: name,
    TimeToLiveSpecification: { AttributeName: TTL_ATTRIBUTE, Enabled: true },
  })
}

const keySchema = ({ hashKey, rangeKey }: { hashKey: string; rangeKey: string }) => [
  { AttributeName: hashKey, KeyType: 'HASH' as const },
  { AttributeName: rangeKey, KeyType: 'RANGE' as const },
]
