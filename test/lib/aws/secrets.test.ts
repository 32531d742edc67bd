import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as dynamodb from '../../../lib/aws/dynamodb.ts'
import { invoke } from '../../../lib/aws/lambda.ts'
import * as s3 from '../../../lib/aws/s3.ts'
import { sendEmail } from '../../../lib/aws/ses.ts'
import { sendTaskSuccess } from '../../../lib/aws/step-functions.ts'
import { errorFields } from '../../../lib/core/log.ts'
import {
  environmentAt,
  type Reaction,
  SECRET,
  SESSION_TOKEN,
  startWire,
  type Wire,
} from './wire.ts'

const WORDS = 'what-a-person-said'
const ANSWER = 'what-the-service-answered'

let wire: Wire

beforeEach(async () => {
  wire = await startWire()
  for (const [name, value] of Object.entries(environmentAt(wire.url))) vi.stubEnv(name, value)
  vi.stubEnv('AWS_SESSION_TOKEN', SESSION_TOKEN)
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await wire.close()
})

const place = { Bucket: 'app-bucket', Key: WORDS }
const part = { Data: WORDS }
const commands = [
  () => dynamodb.putItem({ TableName: 'app-table', Item: { pk: { S: WORDS } } }),
  () => sendTaskSuccess({ taskToken: WORDS, output: WORDS }),
  () => invoke({ FunctionName: 'f', InvocationType: 'Event', Payload: WORDS }),
  () => sendEmail({ Content: { Simple: { Subject: part, Body: { Text: part } } } }),
  () => s3.putObject({ ...place, Body: WORDS, ContentType: 'text/plain' }),
  () => s3.deleteObjects({ Bucket: 'app-bucket', Keys: [WORDS] }),
]

/** As AWS answers a signature that does not fit: with all that it should have been made of. */
const canonical = [
  'The request signature we calculated does not match the signature you provided.',
  '',
  "The Canonical String for this request should have been 'POST",
  `x-amz-security-token:${SESSION_TOKEN}`,
].join('\n')

const failures: { what: string; reaction: Reaction }[] = [
  { what: 'a broken connection', reaction: { act: ({ socket }) => socket?.destroy() } },
  { what: 'a page for an error', reaction: { status: 503, body: `<html>${ANSWER}</html>` } },
  { what: 'a refusal without a body', reaction: { status: 403 } },
  {
    what: 'a signature that does not fit',
    reaction: {
      status: 403,
      body: JSON.stringify({ __type: 'InvalidSignatureException', message: canonical }),
    },
  },
  {
    what: 'an error in XML with more than its message',
    reaction: {
      status: 403,
      body: `<Error><Code>SignatureDoesNotMatch</Code><Message>It does not match.</Message><StringToSign>${ANSWER} ${SESSION_TOKEN}</StringToSign></Error>`,
    },
  },
  { what: 'half an answer', reaction: { status: 400, body: `{"message":"${ANSWER}` } },
]

test.each(failures)('$what is an error without keys, requests or answers', async ({ reaction }) => {
  wire.react(reaction)
  for (const send of commands) {
    const error: unknown = await send().then(
      () => expect.unreachable('It failed.'),
      (failed: unknown) => failed,
    )
    const told = `${inspect(error, { depth: 9 })} ${JSON.stringify(errorFields(error))}`
    for (const secret of [SECRET, SESSION_TOKEN, WORDS, ANSWER]) expect(told).not.toContain(secret)
  }
})

test('an answer of success that cannot be read is an error without a word of it', async () => {
  wire.react({ body: ANSWER })
  await expect(dynamodb.scan({ TableName: 'app-table' })).rejects.toSatisfy(
    (error: Error) => !inspect(error).includes(ANSWER.slice(0, 8)),
  )
})
