import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import * as dynamodb from '../../../lib/aws/dynamodb.ts'
import { invoke } from '../../../lib/aws/lambda.ts'
import * as s3 from '../../../lib/aws/s3.ts'
import { sendEmail } from '../../../lib/aws/ses.ts'
import * as stepFunctions from '../../../lib/aws/step-functions.ts'
import { outcomeOf } from './outcome.ts'
import { sdk } from './sdk.ts'
import { environmentAt, type Reaction, startWire, type Wire } from './wire.ts'

let wire: Wire
let theirs: ReturnType<typeof sdk>

beforeAll(async () => {
  wire = await startWire()
})
afterAll(() => wire.close())
beforeEach(() => {
  for (const [name, value] of Object.entries(environmentAt(wire.url))) vi.stubEnv(name, value)
  theirs = sdk()
  // Each waits by chance: none would make them no other than they are.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

const key = { TableName: 'app-table', Key: { pk: { S: 'a' } } }
const token = { taskToken: 'a', output: '{}' }
const called = { FunctionName: 'f', InvocationType: 'Event', Payload: '{}' } as const
const mail = { Content: { Simple: { Subject: { Data: 'a' }, Body: { Text: { Data: 'b' } } } } }
const place = { Bucket: 'app-bucket', Key: 'a' }
const commands = [
  { what: 'dynamodb', ours: () => dynamodb.getItem(key), theirs: () => theirs.getItem(key) },
  {
    what: 'states',
    ours: () => stepFunctions.sendTaskSuccess(token),
    theirs: () => theirs.sendTaskSuccess(token),
  },
  { what: 'lambda', ours: () => invoke(called), theirs: () => theirs.invoke(called) },
  { what: 'ses', ours: () => sendEmail(mail), theirs: () => theirs.sendEmail(mail) },
  { what: 's3', ours: () => s3.getObject(place), theirs: () => theirs.getObject(place) },
]

/** How often each is sent by ours and by the SDK while every attempt meets the same. */
const attempts = async (reaction: Reaction) => {
  wire.react(reaction)
  const counted = async (send: () => Promise<object>): Promise<number> => {
    const before = wire.requests.length
    const { error } = await outcomeOf(send)
    expect(error).toBeDefined()
    return wire.requests.length - before
  }
  const own: Record<string, number> = {}
  const other: Record<string, number> = {}
  for (const { what, ours, theirs: sent } of commands) {
    own[what] = await counted(ours)
    other[what] = await counted(sent)
  }
  return { own, other }
}

/** An error as S3 tells it, and as all others do. */
const xml = (status: number, code: string): Reaction => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`,
})
const json = (status: number, code: string): Reaction => ({
  status,
  body: JSON.stringify({ __type: `com.amazonaws#${code}`, message: 'No.' }),
})

const AS_OFTEN_AS_ALLOWED = { dynamodb: 4, states: 3, lambda: 1, ses: 1, s3: 3 }
const ONCE = { dynamodb: 1, states: 1, lambda: 1, ses: 1, s3: 1 }

const LATER = [
  'BandwidthLimitExceeded',
  'EC2ThrottledException',
  'LimitExceededException',
  'PriorRequestNotComplete',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'RequestTimeout',
  'RequestTimeoutException',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionInProgressException',
]

test.each(LATER)('%s is tried again as often as the SDK does', async code => {
  const inJson = await attempts(json(400, code))
  const inXml = await attempts(xml(400, code))
  for (const { own, other } of [inJson, inXml]) expect(own).toEqual(other)
  // S3 tells its codes in XML.
  expect({ ...inJson.own, s3: inXml.own.s3 }).toEqual(AS_OFTEN_AS_ALLOWED)
})

test.each([
  'ConditionalCheckFailedException',
  'TransactionCanceledException',
  'TransactionConflictException',
  'ValidationException',
  'AccessDeniedException',
  'ExecutionAlreadyExists',
  'TaskTimedOut',
  'ResourceNotFoundException',
  'NoSuchKey',
])('%s is final at once, as in the SDK', async code => {
  for (const reaction of [json(400, code), xml(404, code)]) {
    const { own, other } = await attempts(reaction)
    expect(own).toEqual(other)
    expect(own).toEqual(ONCE)
  }
})

test.each([500, 502, 503, 504, 429])(
  'status %i is tried again as often as the SDK does, whatever its body says',
  async status => {
    for (const reaction of [json(status, 'Unheard'), xml(status, 'Unheard'), { status }]) {
      const { own, other } = await attempts(reaction)
      expect(own).toEqual(other)
      expect(own).toEqual(AS_OFTEN_AS_ALLOWED)
    }
  },
)

test.each([400, 403, 404, 409, 501, 505])(
  'status %i is final at once, as in the SDK',
  async status => {
    for (const reaction of [json(status, 'Unheard'), xml(status, 'Unheard'), { status }]) {
      const { own, other } = await attempts(reaction)
      expect(own).toEqual(other)
      expect(own).toEqual(ONCE)
    }
  },
)

test('a signature that is too old by the time it arrives is made anew, as by the SDK', async () => {
  const { own, other } = await attempts({
    status: 400,
    body: JSON.stringify({
      __type: 'InvalidSignatureException',
      message: 'Signature expired: 20261201T000000Z is now earlier than 20261201T001500Z',
    }),
  })
  expect(own).toEqual(other)
  expect(own.dynamodb).toBe(4)
})

test('a connection that breaks before an answer is tried again as often as the SDK does', async () => {
  const { own, other } = await attempts({ act: ({ socket }) => socket?.resetAndDestroy() })
  expect(own).toEqual(other)
  expect(own).toEqual(AS_OFTEN_AS_ALLOWED)
})

test('a connection that breaks within an answer is tried again, as by the SDK or more', async () => {
  const { own, other } = await attempts({
    act: response => {
      response.writeHead(200, { 'content-length': '100' }).write('{"Item":')
      setTimeout(() => response.socket?.resetAndDestroy(), 10)
    },
  })
  expect(own).toEqual(AS_OFTEN_AS_ALLOWED)
  // An object's bytes are read after the SDK's attempts.
  expect(own).toEqual({ ...other, s3: 3 })
})

test('a port that refuses is tried again as often as the SDK does', async () => {
  const closed = await startWire()
  await closed.close()
  for (const [name, value] of Object.entries(environmentAt(closed.url))) vi.stubEnv(name, value)
  let own = 0
  dynamodb.dynamodb().middlewareStack.add(
    next => args => {
      own++
      return next(args)
    },
    { step: 'finalizeRequest', name: 'counted' },
  )
  const sent = [dynamodb.getItem(key), sdk().getItem(key)]
  for (const outcome of sent) await expect(outcome).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  dynamodb.dynamodb().middlewareStack.remove('counted')
  await expect(sent[1]).rejects.toMatchObject({ $metadata: { attempts: own } })
  expect(own).toBe(4)
})
