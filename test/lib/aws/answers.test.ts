import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import * as dynamodb from '../../../lib/aws/dynamodb.ts'
import { invoke } from '../../../lib/aws/lambda.ts'
import { sendEmail } from '../../../lib/aws/ses.ts'
import * as stepFunctions from '../../../lib/aws/step-functions.ts'
import { outcomeOf } from './outcome.ts'
import { sdk } from './sdk.ts'
import { errors, json, requestId } from './service-errors.ts'
import { item } from './values.ts'
import { environmentAt, type Reaction, startWire, type Wire } from './wire.ts'

let wire: Wire
let theirs: ReturnType<typeof sdk>

beforeAll(async () => {
  wire = await startWire()
})
afterAll(() => wire.close())
beforeEach(() => {
  for (const [name, value] of Object.entries(environmentAt(wire.url))) vi.stubEnv(name, value)
  // What is tried again is so at once.
  vi.spyOn(Math, 'random').mockReturnValue(0)
  theirs = sdk()
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

const key = { TableName: 'app-table', Key: { pk: { S: 'a' } } }
const put = { TableName: 'app-table', Item: { pk: { S: 'a' } } }
const started = { stateMachineArn: 'arn', name: 'a', input: '{}' }
const called = { FunctionName: 'f', InvocationType: 'RequestResponse', Payload: '{}' } as const
const mail = { Content: { Simple: { Subject: { Data: 'a' }, Body: { Text: { Data: 'b' } } } } }
const commands = {
  getItem: { ours: () => dynamodb.getItem(key), theirs: () => theirs.getItem(key) },
  putItem: { ours: () => dynamodb.putItem(put), theirs: () => theirs.putItem(put) },
  transactWriteItems: {
    ours: () => dynamodb.transactWriteItems({ TransactItems: [] }),
    theirs: () => theirs.transactWriteItems({ TransactItems: [] }),
  },
  startExecution: {
    ours: () => stepFunctions.startExecution(started),
    theirs: () => theirs.startExecution(started),
  },
  invoke: { ours: () => invoke(called), theirs: () => theirs.invoke(called) },
  sendEmail: { ours: () => sendEmail(mail), theirs: () => theirs.sendEmail(mail) },
}
type Name = keyof typeof commands

/** What both make of the same answer, as far as a caller of ours looks. */
const both = async (name: Name, reaction: Reaction) => {
  wire.react(reaction)
  const own = await outcomeOf(commands[name].ours)
  return { own, other: await outcomeOf(commands[name].theirs) }
}

test.each(errors)('an error with $what is the one that the SDK makes of it', async row => {
  const { own, other } = await both(row.command, row.reaction)
  expect(own).toEqual(other)
  expect(own.error).toMatchObject({ name: row.code })
})

const strange: { what: string; reaction: Reaction }[] = [
  { what: 'the page of a proxy', reaction: { status: 503, body: '<html>Unavailable</html>' } },
  { what: 'no body and no code', reaction: { status: 502 } },
  { what: 'a refusal without a word', reaction: { status: 403 } },
]

test.each(strange)('$what is an error with its status, as in the SDK', async ({ reaction }) => {
  for (const name of ['getItem', 'startExecution', 'invoke', 'sendEmail'] as const) {
    const { own, other } = await both(name, reaction)
    // What it is called is nobody's word but the client's.
    expect(own.error?.status).toBe('status' in reaction && reaction.status)
    expect(own.error?.status).toBe(other.error?.status)
    expect(own.error?.fault).toBe(Number(own.error?.status) < 500 ? 'client' : 'server')
  }
})

test('a success with a page in place of JSON fails as in the SDK, without a word of the page', async () => {
  const { own, other } = await both('getItem', { body: 'Secret<html>' })
  expect(own.error).toBeDefined()
  expect(other.error).toBeDefined()
  await expect(dynamodb.getItem(key)).rejects.toSatisfy(
    (error: Error) => !`${error.message}${error.stack}`.includes('Secret'),
  )
})

test('items of every kind of value are read as the SDK reads them', () =>
  fc.assert(
    fc.asyncProperty(item, async Item => {
      const body = JSON.stringify({ Item, ConsumedCapacity: { CapacityUnits: 1.5 } }, inBase64)
      const { own, other } = await both('getItem', { headers: requestId, body })
      expect(own.error).toBeUndefined()
      expect(own.output).toEqual(other.output)
      expect(own.output).toMatchObject({ Item })
    }),
    { numRuns: 100 },
  ))

test('answers without a body, or with an empty one, are successes as in the SDK', async () => {
  for (const name of ['getItem', 'transactWriteItems', 'invoke', 'sendEmail'] as const)
    for (const body of ['', '{}']) {
      const { own, other } = await both(name, { body })
      expect(own.error).toBeUndefined()
      expect(other.error).toBeUndefined()
      if (name !== 'invoke') expect(own.output).toEqual(other.output)
    }
})

test('a function that threw is told from one that returned, as by the SDK', async () => {
  const headers = { 'x-amz-function-error': 'Unhandled' }
  const threw = await both('invoke', { headers, body: json({ errorType: 'Error' }) })
  const returned = await both('invoke', { body: json({ FunctionError: 'of its own' }) })
  const event = await both('invoke', { status: 202 })
  for (const { own, other } of [threw, returned, event])
    expect(own.output?.FunctionError).toEqual(other.output?.FunctionError)
  expect(threw.own.output).toEqual({ FunctionError: 'Unhandled' })
  expect(returned.own.output).toEqual({})
})

/** As AWS answers bytes; a Buffer would tell itself in another way. */
function inBase64(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const given = this[name]
  return given instanceof Uint8Array ? Buffer.from(given).toString('base64') : value
}
