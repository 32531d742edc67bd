import type { Reaction } from './wire.ts'

const DYNAMODB = 'com.amazonaws.dynamodb.v20120810#'
export const requestId = { 'x-amzn-requestid': 'AQ1' }
export const json = (body: object) => JSON.stringify(body)

/** Answers that are errors, as services of AWS tell them, and the code that each of them means. */
export const errors: {
  what: string
  command: 'getItem' | 'putItem' | 'transactWriteItems' | 'startExecution' | 'invoke' | 'sendEmail'
  reaction: Reaction
  code: string
}[] = [
  {
    what: 'a code behind a namespace, with the item that a condition failed on',
    command: 'putItem',
    reaction: {
      status: 400,
      headers: requestId,
      body: json({
        __type: `${DYNAMODB}ConditionalCheckFailedException`,
        message: 'The conditional request failed',
        Item: { pk: { S: 'a' }, B: { B: 'AAEC' }, BS: { BS: ['AA==', ''] }, deep: { M: {} } },
      }),
    },
    code: 'ConditionalCheckFailedException',
  },
  {
    what: 'the reasons of a cancelled transaction',
    command: 'transactWriteItems',
    reaction: {
      status: 400,
      headers: requestId,
      body: json({
        __type: `${DYNAMODB}TransactionCanceledException`,
        Message: 'Transaction cancelled, please refer cancellation reasons',
        CancellationReasons: [
          { Code: 'None' },
          {
            Code: 'ConditionalCheckFailed',
            Message: 'The conditional request failed',
            Item: { pk: { S: 'a' }, bytes: { B: '/+8=' } },
          },
          { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' },
        ],
      }),
    },
    code: 'TransactionCanceledException',
  },
  {
    what: 'a code without a namespace',
    command: 'startExecution',
    reaction: { status: 400, body: json({ __type: 'ExecutionAlreadyExists', message: 'There.' }) },
    code: 'ExecutionAlreadyExists',
  },
  {
    what: 'a code that no class of the SDK has',
    command: 'getItem',
    reaction: {
      status: 400,
      body: json({ __type: 'com.amazon.coral.validate#ValidationException', message: 'No.' }),
    },
    code: 'ValidationException',
  },
  {
    what: 'a code in a header, with an address behind it',
    command: 'invoke',
    reaction: {
      status: 404,
      headers: {
        ...requestId,
        'x-amzn-errortype': 'ResourceNotFoundException:http://internal.amazon.com/coral/lambda/',
      },
      body: json({ Message: 'Function not found', Type: 'User' }),
    },
    code: 'ResourceNotFoundException',
  },
  {
    what: 'a code in a header, and another in the body',
    command: 'sendEmail',
    reaction: {
      status: 400,
      headers: { 'x-amzn-errortype': 'MessageRejected' },
      body: json({ __type: 'Other', message: 'Email address is not verified.' }),
    },
    code: 'MessageRejected',
  },
  {
    what: 'a code in the body alone',
    command: 'sendEmail',
    reaction: { status: 429, body: json({ code: 'TooManyRequestsException', message: 'Later.' }) },
    code: 'TooManyRequestsException',
  },
  {
    what: 'a fault of the service',
    command: 'getItem',
    reaction: {
      status: 500,
      headers: requestId,
      body: json({ __type: `${DYNAMODB}InternalServerError`, message: 'Internal.' }),
    },
    code: 'InternalServerError',
  },
]
