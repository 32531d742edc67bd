import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as dynamodb from '../../../lib/aws/dynamodb.ts'
import { invoke } from '../../../lib/aws/lambda.ts'
import * as s3 from '../../../lib/aws/s3.ts'
import { sendEmail } from '../../../lib/aws/ses.ts'
import * as stepFunctions from '../../../lib/aws/step-functions.ts'
import { sdk } from './sdk.ts'
import { problemsOf } from './signature.ts'
import { environmentAt, REGION, SECRET, startWire } from './wire.ts'

const key = { TableName: 'app-table', Key: { pk: { S: 'a' } } }
const mail = { Content: { Simple: { Subject: { Data: 'a' }, Body: { Text: { Data: 'b' } } } } }
const called = { FunctionName: 'f', InvocationType: 'Event', Payload: '{}' } as const
const odd = { Bucket: 'app-bucket', Key: 'media//a b+c%/../é' }

const commands = (at: typeof ours | ReturnType<typeof sdk>) => [
  () => at.getItem(key),
  () => at.describeExecution({ executionArn: 'arn' }),
  () => at.invoke(called),
  () => at.sendEmail(mail),
  () => at.getObject(odd),
  () => at.getObject({ ...odd, Bucket: 'app.bucket' }),
  () => at.listObjects({ Bucket: 'app-bucket', Prefix: 'a', MaxKeys: 1 }),
]
const ours = { ...dynamodb, ...stepFunctions, ...s3, invoke, sendEmail }

beforeEach(() => {
  for (const [name, value] of Object.entries(environmentAt(''))) vi.stubEnv(name, value)
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe('at AWS itself', () => {
  const STOPPED = 'not sent'

  /** Where each command would go, without its going there. */
  const addresses = async () => {
    const found: string[] = []
    const stop = ({ host, path }: { host: string; path: string }): never => {
      found.push(`${host}${path.split('?')[0]}`)
      throw new Error(STOPPED)
    }
    const https = process.getBuiltinModule('node:https')
    vi.spyOn(https, 'request').mockImplementation(((options: {
      hostname: string
      path: string
      headers: { host: string }
    }) => {
      expect(options.headers.host).toBe(options.hostname)
      return stop({ host: options.hostname, path: options.path })
    }) as never)
    for (const send of commands(ours)) await expect(send()).rejects.toThrow(STOPPED)
    return found
  }

  const addressesOfSdk = async () => {
    const found: string[] = []
    const requestHandler = {
      handle: async ({ hostname, path }: { hostname: string; path: string }) => {
        found.push(`${hostname}${path}`)
        throw new Error(STOPPED)
      },
    }
    for (const send of commands(sdk({ requestHandler })))
      await expect(send()).rejects.toThrow(STOPPED)
    return found
  }

  test.each([
    'us-east-1',
    'eu-central-1',
    'ap-southeast-5',
    'us-gov-west-1',
    'cn-north-1',
    'cn-northwest-1',
    'eusc-de-east-1',
  ])('the services of %s are where the SDK finds them', async region => {
    vi.stubEnv('AWS_REGION', region)
    expect(await addresses()).toEqual(await addressesOfSdk())
  })

  test('a link to an object has its bucket in the host, as by the SDK', async () => {
    const says = { type: 'text/plain', disposition: 'inline', cache: 'no-store' }
    const own = new URL(await s3.presignedGet(odd, { query: {}, expiresIn: 60 }))
    const other = new URL(await sdk().presignedGet(odd, says, 60))
    expect(own.origin).toBe(other.origin)
    expect(own.origin).toBe('https://app-bucket.s3.eu-central-1.amazonaws.com')
  })
})

test.each(['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])(
  'where %s is not set, every command says so, and what to do',
  async name => {
    for (const value of [undefined, '']) {
      vi.stubEnv(name, value)
      const how = name === 'AWS_REGION' ? 'eu-central-1' : 'aws configure export-credentials'
      for (const send of commands(ours)) {
        const failed = expect(send()).rejects
        await failed.toMatchObject({ code: 'NOT_CONFIGURED' })
        await expect(send()).rejects.toThrow(name)
        await expect(send()).rejects.toThrow(how)
      }
    }
  },
)

test('the region may have the name that command lines give it', async () => {
  vi.stubEnv('AWS_REGION', undefined)
  vi.stubEnv('AWS_DEFAULT_REGION', 'eu-west-1')
  const url = await s3.presignedGet(odd, { query: {}, expiresIn: 60 })
  expect(new URL(url).host).toBe('app-bucket.s3.eu-west-1.amazonaws.com')
})

test('keys that change between two requests are those that sign the next one', async () => {
  const wire = await startWire()
  wire.react({ body: '{}' })
  for (const [name, value] of Object.entries(environmentAt(wire.url))) vi.stubEnv(name, value)
  await dynamodb.getItem(key)
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDOFANOTHER')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'another-secret')
  vi.stubEnv('AWS_SESSION_TOKEN', 'another-token')
  await dynamodb.getItem(key)
  const [first, second] = wire.requests
  if (!first || !second) throw new Error('Two requests were sent.')
  const keys = { service: 'dynamodb', region: REGION }
  expect(problemsOf(first, { ...keys, secret: SECRET })).toEqual([])
  expect(problemsOf(second, { ...keys, secret: 'another-secret' })).toEqual([])
  expect(second.headers.authorization).toContain('AKIDOFANOTHER/')
  expect(second.headers['x-amz-security-token']).toBe('another-token')
  await wire.close()
})
