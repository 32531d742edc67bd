import {
  BatchGetItemCommand,
  type BatchGetItemInput,
  DeleteItemCommand,
  type DeleteItemInput,
  DynamoDBClient,
  GetItemCommand,
  type GetItemInput,
  PutItemCommand,
  type PutItemInput,
  QueryCommand,
  type QueryInput,
  ScanCommand,
  type ScanInput,
  TransactWriteItemsCommand,
  type TransactWriteItemsInput,
  UpdateItemCommand,
  type UpdateItemInput,
} from '@aws-sdk/client-dynamodb'
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { SESv2Client, SendEmailCommand, type SendEmailRequest } from '@aws-sdk/client-sesv2'
import {
  DescribeExecutionCommand,
  type DescribeExecutionInput,
  SendTaskSuccessCommand,
  type SendTaskSuccessInput,
  SFNClient,
  StartExecutionCommand,
  type StartExecutionInput,
} from '@aws-sdk/client-sfn'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { Invocation } from '../../../lib/aws/lambda.ts'

export type Place = { Bucket: string; Key: string }
type Options = { requestHandler?: object }

/**
 * AWS's own clients as the platform's were configured, with lib/aws's names for their commands.
 * They read the environment as they are made.
 */
export const sdk = (options: Options = {}) => {
  const dynamodb = new DynamoDBClient(options)
  const stepFunctions = new SFNClient(options)
  const lambda = new LambdaClient({ ...options, maxAttempts: 1 })
  const ses = new SESv2Client({ ...options, maxAttempts: 1 })
  const s3 = new S3Client({
    ...options,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    forcePathStyle: Boolean(process.env.AWS_ENDPOINT_URL_S3),
  })
  return {
    getItem: (input: GetItemInput) => dynamodb.send(new GetItemCommand(input)),
    batchGetItem: (input: BatchGetItemInput) => dynamodb.send(new BatchGetItemCommand(input)),
    query: (input: QueryInput) => dynamodb.send(new QueryCommand(input)),
    putItem: (input: PutItemInput) => dynamodb.send(new PutItemCommand(input)),
    updateItem: (input: UpdateItemInput) => dynamodb.send(new UpdateItemCommand(input)),
    deleteItem: (input: DeleteItemInput) => dynamodb.send(new DeleteItemCommand(input)),
    transactWriteItems: (input: TransactWriteItemsInput) =>
      dynamodb.send(new TransactWriteItemsCommand(input)),
    scan: (input: ScanInput) => dynamodb.send(new ScanCommand(input)),
    startExecution: (input: StartExecutionInput) =>
      stepFunctions.send(new StartExecutionCommand(input)),
    describeExecution: (input: DescribeExecutionInput) =>
      stepFunctions.send(new DescribeExecutionCommand(input)),
    sendTaskSuccess: (input: SendTaskSuccessInput) =>
      stepFunctions.send(new SendTaskSuccessCommand(input)),
    invoke: (input: Invocation) => lambda.send(new InvokeCommand(input)),
    sendEmail: (input: SendEmailRequest, sent: { abortSignal?: AbortSignal } = {}) =>
      ses.send(new SendEmailCommand(input), sent),
    putObject: (input: Place & { Body: Uint8Array | string; ContentType: string }) =>
      s3.send(new PutObjectCommand(input)),
    headObject: (input: Place) => s3.send(new HeadObjectCommand(input)),
    getObject: async (input: Place) => {
      const { Body } = await s3.send(new GetObjectCommand(input))
      return { Body: await Body?.transformToByteArray() }
    },
    deleteObjects: async ({ Bucket, Keys }: { Bucket: string; Keys: string[] }) => {
      const Objects = Keys.map(Key => ({ Key }))
      const { Errors = [] } = await s3.send(
        new DeleteObjectsCommand({
          Bucket,
          Delete: { Objects, Quiet: true },
          ChecksumAlgorithm: 'SHA256',
        }),
      )
      return { Errors: Errors.map(({ Key, Code }) => ({ Key, Code })) }
    },
    listObjects: async (input: { Bucket: string; Prefix: string; MaxKeys: number }) => {
      const { Contents = [], IsTruncated } = await s3.send(
        new ListObjectsV2Command({ ...input, EncodingType: 'url' }),
      )
      return { Keys: Contents.map(({ Key }) => Key), IsTruncated }
    },
    presignedGet: (
      place: Place,
      says: { type: string; disposition: string; cache: string },
      expiresIn: number,
    ) =>
      getSignedUrl(
        s3,
        new GetObjectCommand({
          ...place,
          ResponseContentType: says.type,
          ResponseContentDisposition: says.disposition,
          ResponseCacheControl: says.cache,
        }),
        { expiresIn },
      ),
  }
}
