import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { S3Client } from '@aws-sdk/client-s3'
import { SFNClient } from '@aws-sdk/client-sfn'

// AWS's own clients, at the endpoints that the environment names: for a look at what there is, past
// everything of ours.

export const dynamodb = (): DynamoDBClient => new DynamoDBClient({})
export const s3 = (): S3Client => new S3Client({ forcePathStyle: true })
export const stepFunctions = (): SFNClient => new SFNClient({})
