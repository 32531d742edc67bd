import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
} from '@aws-sdk/client-s3'
import { beforeAll, describe, expect, test } from 'vitest'
import { MAX_METADATA_BYTES } from '../../../../lib/local/s3/object-headers.ts'
import { MAX_KEY_BYTES } from '../../../../lib/local/s3/request.ts'
import { BUCKET, refusalOf, s3, useTestS3 } from './harness.ts'

useTestS3()

type Options = Partial<PutObjectCommandInput>
const put = (Key: string, Body: string, options: Options = {}) =>
  s3.client().send(new PutObjectCommand({ Bucket: BUCKET, Key, Body, ...options }))
const get = async (Key: string, options: { Range?: string; IfRange?: string } = {}) => {
  const answer = await s3.client().send(new GetObjectCommand({ Bucket: BUCKET, Key, ...options }))
  return { ...answer, text: (await answer.Body?.transformToString()) ?? '' }
}
const head = (Key: string) => s3.client().send(new HeadObjectCommand({ Bucket: BUCKET, Key }))
const wire = (method: string, path: string, headers: Record<string, string> = {}) =>
  s3.sendSigned({ method, path: `/${BUCKET}/${path}`, headers })

describe('an object', () => {
  test('comes back with its bytes, headers and metadata', async () => {
    const headers = {
      ContentType: 'text/csv',
      CacheControl: 'no-store',
      ContentDisposition: 'attachment; filename="a.csv"',
      ContentLanguage: 'de',
      Metadata: { run: '7', 'two-words': 'a  b' },
    }
    await put('whole', 'hello', headers)
    const object = await get('whole')
    expect(object).toMatchObject({
      ...headers,
      text: 'hello',
      ContentLength: 5,
      ETag: '"5d41402abc4b2a76b9719d911017c592"',
    })
    expect(Math.abs(Date.now() - (object.LastModified?.getTime() ?? 0))).toBeLessThan(5000)
  })

  test('may be empty', async () => {
    await put('empty', '', { ContentLength: 0 })
    expect(await get('empty')).toMatchObject({ text: '', ContentLength: 0 })
    expect(await refusalOf(get('empty', { Range: 'bytes=0-' }))).toBe('InvalidRange 416')
  })

  test('that is not there is NoSuchKey, and is deleted all the same', async () => {
    expect(await refusalOf(get('nothing'))).toBe('NoSuchKey 404')
    expect(await refusalOf(head('nothing'))).toBe('NotFound 404')
    const remove = new DeleteObjectCommand({ Bucket: BUCKET, Key: 'nothing' })
    expect((await s3.client().send(remove)).$metadata.httpStatusCode).toBe(204)
  })

  test('has at most 2 KB of metadata', async () => {
    const value = 'v'.repeat(MAX_METADATA_BYTES - 1)
    await put('metadata', 'x', { Metadata: { k: value } })
    expect((await head('metadata')).Metadata).toEqual({ k: value })
    const more = put('metadata', 'x', { Metadata: { k: value + 'v' } })
    expect(await refusalOf(more)).toBe('MetadataTooLarge 400')
  })

  test('read while it is replaced is the old one, whole', async () => {
    const [old, next] = [randomBytes(3_000_000), randomBytes(3_000_000)]
    const write = (Body: Buffer) =>
      s3.client().send(new PutObjectCommand({ Bucket: BUCKET, Key: 'replaced', Body }))
    await write(old)
    const { Body } = await s3
      .client()
      .send(new GetObjectCommand({ Bucket: BUCKET, Key: 'replaced' }))
    await write(next)
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? [])
    expect(bytes.equals(old)).toBe(true)
  })
})

describe('a key', () => {
  const KEYS = [
    '../escape',
    'k/../x',
    'k/./x',
    '../../../../../../etc/passwd',
    '..',
    '.',
    '/leading',
    'double//slash',
    'trailing/',
    'x',
    'x/y',
    'space + plus%25é✓😀.txt',
    'q\'(a)*!&=;$@,:?#"<>[]{}|\\^`~',
    'tab\tand\u0001control',
    'n'.repeat(300),
    'é'.repeat(MAX_KEY_BYTES / 2),
  ]

  test('may be anything, and is never a path on the disk', async () => {
    const inside = (await readdir(s3.directory)).sort()
    for (const key of KEYS) await put(key, key)
    for (const key of KEYS) expect((await get(key)).text).toBe(key)
    expect((await readdir(s3.directory)).sort()).toEqual(inside)
    const files = await readdir(join(s3.directory, 'buckets', BUCKET, 'objects'))
    expect(files.every(name => /^[0-9a-f]{64}$/.test(name))).toBe(true)
  })

  test('is not tidied on the way: a raw path with dots names what it says', async () => {
    await put('dots/../kept', 'raw')
    expect(await wire('GET', 'dots/../kept')).toMatchObject({ status: 200, body: 'raw' })
    expect(await wire('GET', 'kept')).toMatchObject({ code: 'NoSuchKey' })
    const outside = await s3.sendSigned({ method: 'GET', path: `/../${BUCKET}/kept` })
    expect(outside).toMatchObject({ code: 'NoSuchBucket' })
  })

  test('has at most 1,024 bytes, and must be UTF-8', async () => {
    const long = put('k'.repeat(MAX_KEY_BYTES + 1), 'x')
    expect(await refusalOf(long)).toBe('KeyTooLongError 400')
    expect(await wire('GET', '%ff')).toMatchObject({ status: 400, code: 'InvalidURI' })
  })
})

describe('a condition', () => {
  test('lets exactly one of many racing puts make an object', async () => {
    const bodies = Array.from({ length: 20 }, (_, index) => `put ${index}`)
    const outcomes = await Promise.allSettled(
      bodies.map(body => put('race', body, { IfNoneMatch: '*' })),
    )
    const winners = bodies.filter((_, index) => outcomes[index]?.status === 'fulfilled')
    expect(winners).toHaveLength(1)
    expect((await get('race')).text).toBe(winners[0])
  })

  test('lets exactly one of many racing puts replace an object', async () => {
    const { ETag } = await put('swap', 'old')
    if (!ETag) throw new Error('A put must answer with an ETag.')
    const racing = Array.from({ length: 10 }, (_, index) =>
      refusalOf(put('swap', `put ${index}`, { IfMatch: ETag })),
    )
    const refusals = (await Promise.all(racing)).filter(refusal => refusal !== 'none')
    expect(refusals).toEqual(Array(9).fill('PreconditionFailed 412'))
  })

  test('If-Match needs an object to match', async () => {
    expect(await refusalOf(put('no-match', 'x', { IfMatch: '"e"' }))).toBe('NoSuchKey 404')
    expect(await refusalOf(put('no-match', 'x', { IfNoneMatch: '"e"' }))).toBe('NotImplemented 501')
  })

  test('keeps a delete from another object', async () => {
    const { ETag = '' } = await put('delete', 'x')
    const remove = (IfMatch: string) =>
      s3.client().send(new DeleteObjectCommand({ Bucket: BUCKET, Key: 'delete', IfMatch }))
    expect(await refusalOf(remove('"other"'))).toBe('PreconditionFailed 412')
    expect(await refusalOf(remove(ETag))).toBe('none')
    expect(await refusalOf(head('delete'))).toBe('NotFound 404')
  })

  test('of a read answers 304 or 412', async () => {
    const { ETag: etag = '' } = await put('read', 'x')
    const status = async (headers: Record<string, string>) =>
      (await wire('GET', 'read', headers)).status
    const modified = (await wire('GET', 'read')).headers['last-modified'] ?? ''
    const earlier = new Date(Date.parse(modified) - 1000).toUTCString()
    expect(await status({ 'if-match': etag })).toBe(200)
    expect(await status({ 'if-match': `"other", ${etag}` })).toBe(200)
    expect(await status({ 'if-match': '"other"' })).toBe(412)
    expect(await status({ 'if-none-match': etag })).toBe(304)
    expect(await status({ 'if-none-match': `W/${etag}` })).toBe(304)
    expect(await status({ 'if-none-match': '"other"' })).toBe(200)
    expect(await status({ 'if-modified-since': modified })).toBe(304)
    expect(await status({ 'if-modified-since': earlier })).toBe(200)
    expect(await status({ 'if-unmodified-since': earlier })).toBe(412)
    expect(await status({ 'if-unmodified-since': earlier, 'if-match': etag })).toBe(200)
    expect((await wire('GET', 'read', { 'if-none-match': etag })).headers.etag).toBe(etag)
  })
})

describe('a range', () => {
  beforeAll(() => put('range', '0123456789'))

  test.each([
    ['bytes=2-5', '2345', 'bytes 2-5/10'],
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=9-9', '9', 'bytes 9-9/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=7-100', '789', 'bytes 7-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-100', '0123456789', 'bytes 0-9/10'],
  ])('%s is a part', async (Range, text, ContentRange) => {
    expect(await get('range', { Range })).toMatchObject({
      text,
      ContentRange,
      ContentLength: text.length,
    })
  })

  test.each(['bytes=10-', 'bytes=100-200', 'bytes=-0'])('%s is beyond the end', async range => {
    expect(await wire('GET', 'range', { range })).toMatchObject({
      status: 416,
      code: 'InvalidRange',
      headers: { 'content-range': 'bytes */10' },
    })
  })

  test.each(['bytes=5-2', 'bytes=-', 'bytes=0-1,4-5', 'lines=1-2'])(
    '%s is passed over',
    async range => {
      expect(await wire('GET', 'range', { range })).toMatchObject({
        status: 200,
        body: '0123456789',
      })
    },
  )

  test('of another object than the client has the start of is the whole', async () => {
    const { ETag: etag = '' } = await head('range')
    const from = (header: string) => wire('GET', 'range', { range: 'bytes=5-', 'if-range': header })
    expect((await from(etag)).status).toBe(206)
    expect((await from('"other"')).status).toBe(200)
  })
})

describe('a copy', () => {
  const copy = (Key: string, source: string, options: Partial<PutObjectCommandInput> = {}) =>
    s3.client().send(
      new CopyObjectCommand({
        Bucket: BUCKET,
        Key,
        CopySource: `${BUCKET}/${encodeURIComponent(source)}`,
        ...options,
      }),
    )

  test('takes headers, metadata and checksum along, or new ones', async () => {
    const source = 'source é+.txt'
    await put(source, 'x', { ContentType: 'text/a', Metadata: { a: '1' } })
    const plain = await copy('copied', source)
    expect(plain.CopyObjectResult).toMatchObject({ ETag: (await head(source)).ETag })
    expect(plain.CopyObjectResult?.ChecksumCRC32).toBeTruthy()
    expect(await get('copied')).toMatchObject({
      text: 'x',
      ContentType: 'text/a',
      Metadata: { a: '1' },
    })
    const options = { MetadataDirective: 'REPLACE', Metadata: { a: '2' }, ContentType: 'text/b' }
    await copy('copied', source, options as Options)
    expect(await head('copied')).toMatchObject({ ContentType: 'text/b', Metadata: { a: '2' } })
  })

  test('onto itself must change something, and needs a source', async () => {
    await put('self', 'x')
    expect(await refusalOf(copy('self', 'self'))).toBe('InvalidRequest 400')
    expect(await refusalOf(copy('copied', 'nothing'))).toBe('NoSuchKey 404')
  })

  test('holds to conditions on its source and its target', async () => {
    await put('source', 'x')
    const other = { CopySourceIfMatch: '"other"' } as Options
    expect(await refusalOf(copy('conditional', 'source', other))).toBe('PreconditionFailed 412')
    expect(await refusalOf(copy('conditional', 'source', { IfNoneMatch: '*' }))).toBe('none')
    expect(await refusalOf(copy('conditional', 'source', { IfNoneMatch: '*' }))).toBe(
      'PreconditionFailed 412',
    )
  })
})

describe('what this server does not do', () => {
  test('is refused, never passed over', async () => {
    await put('tagged', 'x')
    expect(await wire('DELETE', 'tagged?tagging=')).toMatchObject({ code: 'NotImplemented' })
    expect(await wire('GET', 'tagged?versionId=1')).toMatchObject({ code: 'NotImplemented' })
    expect(await refusalOf(put('tagged', 'y', { Tagging: 'a=b' }))).toBe('NotImplemented 501')
    expect((await get('tagged')).text).toBe('x')
  })

  test('is counted by operation, apart from what it does', async () => {
    const before = s3.server().requests()
    await put('counted', 'x')
    await get('counted')
    await refusalOf(get('counted-not'))
    const after = s3.server().requests()
    const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0)
    expect([grown('PutObject'), grown('GetObject'), grown('HeadObject')]).toEqual([1, 2, 0])
  })
})
