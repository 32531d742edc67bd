import {
  ConditionalCheckFailedException,
  type DynamoDBServiceException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'

type Errors = {
  simulated: DynamoDBServiceException | undefined
  real: DynamoDBServiceException | undefined
}

/**
 * Where dynoxide 1.2.1 answers otherwise than DynamoDB does, and the simulation as DynamoDB. In
 * each of these cases both refuse the request and write nothing.
 */
export const isOtherwiseInDynoxide = (command: string, { simulated, real }: Errors): boolean => {
  if (simulated?.name !== 'ValidationException') return false
  // An expression that can't be, in a transaction: DynamoDB refuses the whole request before the
  // transaction begins (measured in paritysuite/dynamodb-conformance,
  // tests/tier3/validation-ordering/transactions.test.ts; told in getmoto/moto#8582). dynoxide
  // finds it as it comes to the write, and cancels.
  if (command === 'TransactWriteItemsCommand')
    return (
      real instanceof TransactionCanceledException &&
      real.CancellationReasons?.some(({ Code }) => Code === 'ValidationError') === true
    )
  // A value that no expression uses: DynamoDB asks for it first (the same measurements), dynoxide
  // after a put's and a delete's condition.
  return (
    real instanceof ConditionalCheckFailedException &&
    simulated.message.includes('unused in expressions')
  )
}
