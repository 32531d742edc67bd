import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import * as s3 from '../../../lib/aws/s3.ts'
import { outcomeOf } from './outcome.ts'
import { sdk } from './sdk.ts'
import { objectKey } from './values.ts'
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

const Bucket = 'app-bucket'
const place = { Bucket, Key: 'a key' }
const written = { ...place, Body: 'body', ContentType: 'text/plain' }
const removed = { Bucket, Keys: ['a', 'b'] }
const listed = { Bucket, Prefix: 'a', MaxKeys: 10 }
const commands = {
  putObject: { ours: () => s3.putObject(written), theirs: () => theirs.putObject(written) },
  headObject: { ours: () => s3.headObject(place), theirs: () => theirs.headObject(place) },
  getObject: { ours: () => s3.getObject(place), theirs: () => theirs.getObject(place) },
  deleteObjects: {
    ours: () => s3.deleteObjects(removed),
    theirs: () => theirs.deleteObjects(removed),
  },
  listObjects: { ours: () => s3.listObjects(listed), theirs: () => theirs.listObjects(listed) },
}
type Name = keyof typeof commands
const names = Object.keys(commands) as Name[]
const withBody = names.filter(name => name !== 'headObject')

const both = async (name: Name, reaction: Reaction) => {
  wire.react(reaction)
  const own = await outcomeOf(commands[name].ours)
  return { own, other: await outcomeOf(commands[name].theirs) }
}

const headers = { 'content-type': 'application/xml', 'x-amz-request-id': '4442587FB7D0A2F9' }
const xml = (inner: string) => `<?xml version="1.0" encoding="UTF-8"?>\n${inner}`
const errorBody = (code: string, message: string) =>
  xml(
    `<Error><Code>${code}</Code><Message>${message}</Message><Key>a key</Key><RequestId>4442587FB7D0A2F9</RequestId><HostId>abc</HostId></Error>`,
  )

test.each([
  [404, 'NoSuchKey', 'The specified key does not exist.'],
  [404, 'NoSuchBucket', 'The specified bucket does not exist'],
  [403, 'AccessDenied', 'Not &lt;yours&gt; &amp; not &#x27;mine&#39; &quot;today&quot;'],
  [400, 'InvalidRequest', 'Über alles — 日本'],
  [301, 'PermanentRedirect', 'The bucket is elsewhere.'],
  [503, 'SlowDown', 'Please reduce your request rate.'],
  [500, 'InternalError', 'We encountered an internal error. Please try again.'],
])('S3 error %i %s is the one that the SDK makes of it', async (status, code, message) => {
  for (const name of withBody) {
    const { own, other } = await both(name, { status, headers, body: errorBody(code, message) })
    // Some errors of no class have no fault in the SDK; nobody looks at it.
    const { fault: _, ...ours } = own.error ?? {}
    const { fault: __, ...sdks } = other.error ?? {}
    expect(ours).toEqual(sdks)
    expect(own.error).toMatchObject({ name: code, status })
  }
})

test('an answer to a HEAD, which has no body, is read as by the SDK', async () => {
  const missing = await both('headObject', { status: 404, headers })
  expect(missing.own.error).toMatchObject({
    name: 'NotFound',
    status: 404,
    requestId: missing.other.error?.requestId,
  })
  expect(missing.other.error).toMatchObject({ name: 'NotFound', status: 404 })
  for (const status of [301, 400, 403, 500, 503]) {
    const { own, other } = await both('headObject', { status, headers })
    expect(own.error).toMatchObject({ status, requestId: other.error?.requestId })
    expect(own.error?.name).not.toBe('NotFound')
  }
  const found = await both('headObject', { headers: { 'content-type': 'image/png' } })
  expect(found.own.output?.ContentType).toBe('image/png')
  expect(found.other.output?.ContentType).toBe('image/png')
  const untyped = await both('headObject', {})
  expect(untyped.own.output?.ContentType).toBe(untyped.other.output?.ContentType)
})

test('the page of a proxy and an empty body are errors with their status', async () => {
  for (const name of names)
    for (const [status, body] of [
      [503, '<html><Message>down</Message></html>'],
      [502, ''],
    ] as const) {
      const { own, other } = await both(name, { status, body })
      expect(own.error?.status).toBe(status)
      expect(own.error?.fault).toBe('server')
      expect(other.error).toBeDefined()
    }
})

test('bytes of any kind are read as by the SDK', () =>
  fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async bytes => {
      const { own, other } = await both('getObject', { body: bytes })
      expect(Buffer.from(own.output?.Body as Uint8Array).equals(bytes)).toBe(true)
      expect(Buffer.from(other.output?.Body as Uint8Array).equals(bytes)).toBe(true)
    }),
    { numRuns: 40 },
  ))

const escapeXml = (text: string) =>
  text.replace(/[&<>\r\n]/g, character => `&#x${character.charCodeAt(0).toString(16)};`)
const urlEncode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+')

test('keys of any kind are listed as they are, and whether there are more', () =>
  fc.assert(
    fc.asyncProperty(fc.array(objectKey, { maxLength: 4 }), fc.boolean(), async (keys, more) => {
      const contents = keys.map(
        key =>
          `<Contents><Key>${urlEncode(key)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;a&quot;</ETag><Size>1</Size></Contents>`,
      )
      const body = xml(
        `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${Bucket}</Name><Prefix>a</Prefix><KeyCount>${keys.length}</KeyCount><MaxKeys>10</MaxKeys><EncodingType>url</EncodingType><IsTruncated>${more}</IsTruncated>${contents.join('')}</ListBucketResult>`,
      )
      const { own, other } = await both('listObjects', { headers, body })
      expect(own.output).toEqual({ Keys: keys, IsTruncated: more })
      // The SDK leaves them as they are in URLs.
      expect(other.output).toEqual({ Keys: keys.map(urlEncode), IsTruncated: more })
    }),
    { numRuns: 60 },
  ))

test('what could not be removed is read as by the SDK', () =>
  fc.assert(
    fc.asyncProperty(fc.array(objectKey, { maxLength: 3 }), async keys => {
      const errors = keys.map(
        key =>
          `<Error><Key>${escapeXml(key)}</Key><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`,
      )
      const body = xml(
        `<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${errors.join('')}</DeleteResult>`,
      )
      const { own, other } = await both('deleteObjects', { headers, body })
      expect(own.output).toEqual({ Errors: keys.map(Key => ({ Key, Code: 'AccessDenied' })) })
      // Of a text of white space the SDK reads nothing.
      const asRead = keys.map(Key => ({ Key: Key.trim() === '' ? '' : Key, Code: 'AccessDenied' }))
      expect(other.output).toEqual({ Errors: asRead })
    }),
    { numRuns: 60 },
  ))

test('an error behind a status of success is an error, and one to try again, as in the SDK', async () => {
  const body = errorBody('InternalError', 'We encountered an internal error. Please try again.')
  for (const name of ['putObject', 'deleteObjects', 'listObjects'] as const) {
    const { own, other } = await both(name, { status: 200, headers, body })
    expect([name, other.error?.name]).toEqual([name, 'InternalError'])
    expect([name, own.error]).toMatchObject([name, { name: 'InternalError', fault: 'server' }])
  }
})

test('an object that is itself an error document is read as it is, as in the SDK', async () => {
  const body = errorBody('InternalError', 'Of an object.')
  const { own, other } = await both('getObject', { headers, body })
  for (const { output } of [own, other])
    expect(Buffer.from(output?.Body as Uint8Array).toString()).toBe(body)
})
