import {
  type AttributeValue,
  type CancellationReason,
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'

// The exceptions as the SDK makes them of DynamoDB's answers. It has no class for a request that
// isn't valid.

const REFUSED = { httpStatusCode: 400 }

export const invalid = (message: string): DynamoDBServiceException =>
  new DynamoDBServiceException({
    name: 'ValidationException',
    $fault: 'client',
    $metadata: REFUSED,
    message,
  })

export const isInvalid = (error: unknown): error is DynamoDBServiceException =>
  error instanceof DynamoDBServiceException && error.name === 'ValidationException'

export const conditionFailed = (item: Record<string, AttributeValue> | undefined) =>
  new ConditionalCheckFailedException({
    message: 'The conditional request failed',
    $metadata: REFUSED,
    ...(item ? { Item: item } : {}),
  })

export const cancelled = (reasons: CancellationReason[]) =>
  new TransactionCanceledException({
    message:
      'Transaction cancelled, please refer cancellation reasons for specific reasons ' +
      `[${reasons.map(({ Code }) => Code).join(', ')}]`,
    $metadata: REFUSED,
    CancellationReasons: reasons,
  })

/** What DynamoDB could do and this table can't, yet: a fault of the test and not of the request. */
export const unsupported = (what: string): Error =>
  new Error(`The simulated table does not know ${what}: teach it in test/simulation/table.`)
