import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import * as dynamodb from '../../../lib/aws/dynamodb.ts'
import { invoke } from '../../../lib/aws/lambda.ts'
import { sendEmail } from '../../../lib/aws/ses.ts'
import * as stepFunctions from '../../../lib/aws/step-functions.ts'
import { type ServiceName, sameRequest } from './both.ts'
import { sdk } from './sdk.ts'
import { item, text } from './values.ts'
import { environmentAt, SESSION_TOKEN, startWire, type Wire } from './wire.ts'

let wire: Wire
let theirs: ReturnType<typeof sdk>

beforeAll(async () => {
  wire = await startWire()
  wire.react({ body: '{}' })
})
afterAll(() => wire.close())
beforeEach(() => {
  for (const [name, value] of Object.entries(environmentAt(wire.url))) vi.stubEnv(name, value)
  theirs = sdk()
})
afterEach(() => vi.unstubAllEnvs())

/** Sends the same input through both, and holds what came to be the same. */
const same = <Name extends keyof ReturnType<typeof sdk>>(
  service: ServiceName,
  name: Name,
  ours: (input: never) => Promise<unknown>,
  input: unknown,
) =>
  sameRequest(wire, service, {
    ours: () => ours(input as never),
    theirs: () => (theirs[name] as (input: unknown) => Promise<unknown>)(input),
  })

const runs = { numRuns: 60 }
const TableName = 'app-table'

test('items of every kind of value are put as the SDK puts them', () =>
  fc.assert(
    fc.asyncProperty(item, async Item => {
      await same('dynamodb', 'putItem', dynamodb.putItem, {
        TableName,
        Item,
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnConsumedCapacity: 'TOTAL',
      })
    }),
    runs,
  ))

test('an item is read by any key as the SDK reads it', () =>
  fc.assert(
    fc.asyncProperty(item, fc.boolean(), async (Key, ConsistentRead) => {
      await same('dynamodb', 'getItem', dynamodb.getItem, { TableName, Key, ConsistentRead })
      await same('dynamodb', 'deleteItem', dynamodb.deleteItem, {
        TableName,
        Key,
        ReturnValues: 'ALL_OLD',
      })
      await same('dynamodb', 'batchGetItem', dynamodb.batchGetItem, {
        RequestItems: { [TableName]: { Keys: [Key, Key], ConsistentRead } },
      })
    }),
    runs,
  ))

test('expressions with names and values of every kind are sent as the SDK sends them', () =>
  fc.assert(
    fc.asyncProperty(
      item,
      text,
      fc.option(fc.nat(), { nil: undefined }),
      async (any, word, Limit) => {
        const names = { '#a': word, '#b': 'B' }
        const parts = { ExpressionAttributeNames: names, ExpressionAttributeValues: any }
        await same('dynamodb', 'updateItem', dynamodb.updateItem, {
          TableName,
          Key: any,
          UpdateExpression: word,
          ConditionExpression: undefined,
          ...parts,
        })
        await same('dynamodb', 'query', dynamodb.query, {
          TableName,
          IndexName: undefined,
          KeyConditionExpression: word,
          Limit,
          ScanIndexForward: false,
          ExclusiveStartKey: any,
          ...parts,
        })
        await same('dynamodb', 'scan', dynamodb.scan, { TableName, Limit, Segment: 0, ...parts })
      },
    ),
    runs,
  ))

test('transactions are sent as the SDK sends them', () =>
  fc.assert(
    fc.asyncProperty(item, text, async (any, word) => {
      await same('dynamodb', 'transactWriteItems', dynamodb.transactWriteItems, {
        TransactItems: [
          { Put: { TableName, Item: any, ConditionExpression: word } },
          { Update: { TableName, Key: any, UpdateExpression: word } },
          { Delete: { TableName, Key: any, ExpressionAttributeValues: any } },
          { ConditionCheck: { TableName, Key: any, ConditionExpression: word } },
        ],
        ClientRequestToken: 'a-token',
        ReturnConsumedCapacity: 'TOTAL',
      })
    }),
    runs,
  ))

test('executions are started, described and woken as by the SDK', () =>
  fc.assert(
    fc.asyncProperty(text, text, async (word, other) => {
      const stateMachineArn = 'arn:aws:states:eu-central-1:123456789012:stateMachine:app'
      const started = { stateMachineArn, name: word, input: JSON.stringify({ other }) }
      await same('states', 'startExecution', stepFunctions.startExecution, started)
      const described = { executionArn: `${stateMachineArn}:${word}` }
      await same('states', 'describeExecution', stepFunctions.describeExecution, described)
      const woken = { taskToken: `${word}+/==`, output: JSON.stringify(other) }
      await same('states', 'sendTaskSuccess', stepFunctions.sendTaskSuccess, woken)
    }),
    runs,
  ))

test('functions of any name are invoked as by the SDK, awaited or not', () =>
  fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
        fc.constantFrom('app:live', 'arn:aws:lambda:eu-central-1:123456789012:function:app:7'),
        text.filter(word => word !== ''),
      ),
      fc.constantFrom('Event', 'RequestResponse'),
      fc.json(),
      async (FunctionName, InvocationType, Payload) => {
        const input = { FunctionName, InvocationType, Payload }
        const request = await same('lambda', 'invoke', invoke, input)
        expect(request.headers['x-amz-invocation-type']).toBe(InvocationType)
        expect(request.body.toString()).toBe(Payload)
      },
    ),
    runs,
  ))

test('an e-mail is sent as by the SDK', () =>
  fc.assert(
    fc.asyncProperty(text, text, async (subject, body) => {
      const part = (Data: string) => ({ Data, Charset: 'UTF-8' })
      await same('ses', 'sendEmail', sendEmail, {
        FromEmailAddress: 'agent@example.com',
        Destination: { ToAddresses: ['one@example.com', 'Zwei <zwei@example.com>'] },
        Content: { Simple: { Subject: part(subject), Body: { Text: part(body) } } },
      })
    }),
    runs,
  ))

test('the token of a session is sent and signed', async () => {
  vi.stubEnv('AWS_SESSION_TOKEN', SESSION_TOKEN)
  theirs = sdk()
  const Key = { pk: { S: 'a' } }
  const arn = { executionArn: 'arn' }
  const called = { FunctionName: 'app-wake', InvocationType: 'Event', Payload: '{}' }
  const sent = [
    await same('dynamodb', 'getItem', dynamodb.getItem, { TableName, Key }),
    await same('states', 'describeExecution', stepFunctions.describeExecution, arn),
    await same('lambda', 'invoke', invoke, called),
    await same('ses', 'sendEmail', sendEmail, { Content: {} }),
  ]
  for (const { headers } of sent) expect(headers['x-amz-security-token']).toBe(SESSION_TOKEN)
})

test('a function hands on the trace that it is a part of, by which Lambda sees circles', async () => {
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'app-api')
  vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1')
  const called = { FunctionName: 'app-wake', InvocationType: 'Event', Payload: '{}' }
  const { headers } = await same('lambda', 'invoke', invoke, called)
  expect(headers['x-amzn-trace-id']).toBe(process.env._X_AMZN_TRACE_ID)
})
