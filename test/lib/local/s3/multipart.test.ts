import { createHash, randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AbortMultipartUploadCommand,
  type ChecksumType,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  GetObjectCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { describe, expect, test } from 'vitest'
import { digestOf } from '../../../../lib/local/s3/checksum.ts'
import { MIN_PART_BYTES } from '../../../../lib/local/s3/complete-upload.ts'
import { MAX_PART_NUMBER } from '../../../../lib/local/s3/multipart.ts'
import { BUCKET, refusalOf, s3, useTestS3 } from './harness.ts'

useTestS3()

const FIRST = randomBytes(MIN_PART_BYTES)
const LAST = randomBytes(1000)
const WHOLE = Buffer.concat([FIRST, LAST])

const begin = async (Key: string, options: Partial<CreateMultipartUploadCommandInput> = {}) => {
  const upload = { Bucket: BUCKET, Key }
  const command = new CreateMultipartUploadCommand({ ...upload, ...options })
  const { UploadId } = await s3.client().send(command)
  return { ...upload, UploadId }
}
type Upload = Awaited<ReturnType<typeof begin>>

const upload = async (to: Upload, PartNumber: number, Body: Buffer): Promise<CompletedPart> => {
  const { $metadata, ...part } = await s3
    .client()
    .send(new UploadPartCommand({ ...to, PartNumber, Body }))
  expect($metadata.httpStatusCode).toBe(200)
  return { PartNumber, ...part }
}
const complete = (to: Upload, Parts: CompletedPart[], options: { IfNoneMatch?: string } = {}) =>
  s3
    .client()
    .send(new CompleteMultipartUploadCommand({ ...to, MultipartUpload: { Parts }, ...options }))
const read = async (Key: string) => {
  const command = new GetObjectCommand({ Bucket: BUCKET, Key, ChecksumMode: 'ENABLED' })
  const object = await s3.client().send(command)
  return { ...object, bytes: Buffer.from((await object.Body?.transformToByteArray()) ?? []) }
}
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest()
const listParts = (of: Upload) => s3.client().send(new ListPartsCommand(of))

describe('a multipart upload', () => {
  test('becomes one object once it is complete, and only then', async () => {
    const to = await begin('whole', { ContentType: 'text/csv', Metadata: { a: '1' } })
    const parts = [await upload(to, 3, FIRST), await upload(to, 7, LAST)]
    expect(await refusalOf(read('whole'))).toBe('NoSuchKey 404')
    const listed = await listParts(to)
    expect(listed.Parts?.map(part => [part.PartNumber, part.Size])).toEqual([
      [3, FIRST.length],
      [7, LAST.length],
    ])
    const { ETag } = await complete(to, parts)
    const etag = md5(Buffer.concat([md5(FIRST), md5(LAST)])).toString('hex')
    expect(ETag).toBe(`"${etag}-2"`)
    const object = await read('whole')
    expect(object).toMatchObject({ ETag, ContentType: 'text/csv', Metadata: { a: '1' } })
    expect(object.bytes.equals(WHOLE)).toBe(true)
    expect(await refusalOf(listParts(to))).toBe('NoSuchUpload 404')
    expect(await refusalOf(complete(to, parts))).toBe('NoSuchUpload 404')
  })

  test('takes the last of a part sent twice', async () => {
    const to = await begin('twice')
    const old = await upload(to, 1, Buffer.from('old'))
    const part = await upload(to, 1, Buffer.from('new'))
    expect(await refusalOf(complete(to, [old]))).toBe('InvalidPart 400')
    await complete(to, [part])
    expect((await read('twice')).bytes.toString()).toBe('new')
  })

  test('survives a restart', async () => {
    const to = await begin('restarted')
    const part = await upload(to, 1, LAST)
    await s3.restart()
    await complete(to, [part])
    expect((await read('restarted')).bytes).toEqual(LAST)
  })

  test('that is aborted leaves nothing', async () => {
    const to = await begin('aborted')
    await upload(to, 1, LAST)
    await s3.client().send(new AbortMultipartUploadCommand(to))
    expect(await refusalOf(upload(to, 2, LAST))).toBe('NoSuchUpload 404')
    expect(await readdir(join(s3.directory, 'buckets', BUCKET, 'uploads'))).toEqual([])
    expect(await readdir(join(s3.directory, 'drafts'))).toEqual([])
  })

  test('holds to If-None-Match, and can be completed once the object is gone', async () => {
    await s3.client().send(new PutObjectCommand({ Bucket: BUCKET, Key: 'taken', Body: 'x' }))
    const to = await begin('taken')
    const parts = [await upload(to, 1, LAST)]
    expect(await refusalOf(complete(to, parts, { IfNoneMatch: '*' }))).toBe(
      'PreconditionFailed 412',
    )
    expect((await read('taken')).bytes.toString()).toBe('x')
    await complete(to, parts)
    expect((await read('taken')).bytes).toEqual(LAST)
  })

  test('completed twice at once succeeds once', async () => {
    const to = await begin('raced')
    const parts = [await upload(to, 1, LAST)]
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => refusalOf(complete(to, parts))),
    )
    expect(outcomes.filter(outcome => outcome === 'none')).toHaveLength(1)
    expect(new Set(outcomes)).toEqual(new Set(['none', 'NoSuchUpload 404']))
  })
})

describe('the parts', () => {
  test('but the last have 5 MiB at least', async () => {
    const to = await begin('small')
    const small = await upload(to, 1, FIRST.subarray(1))
    const last = await upload(to, 2, LAST)
    expect(await refusalOf(complete(to, [small, last]))).toBe('EntityTooSmall 400')
    await complete(to, [await upload(to, 1, FIRST), last])
    expect((await read('small')).bytes.equals(WHOLE)).toBe(true)
  })

  test('are named in order, as they were uploaded, and at least one', async () => {
    const to = await begin('order')
    const [first, last] = [await upload(to, 1, FIRST), await upload(to, 2, LAST)]
    expect(await refusalOf(complete(to, [last, first]))).toBe('InvalidPartOrder 400')
    expect(await refusalOf(complete(to, [first, first]))).toBe('InvalidPartOrder 400')
    expect(await refusalOf(complete(to, [{ ...first, PartNumber: 3 }]))).toBe('InvalidPart 400')
    expect(await refusalOf(complete(to, [{ ...first, ChecksumCRC32: 'AAAAAA==' }]))).toBe(
      'InvalidPart 400',
    )
    expect(await refusalOf(complete(to, []))).toBe('MalformedXML 400')
  })

  test('have numbers from 1 to 10,000', async () => {
    const to = await begin('numbers')
    await upload(to, MAX_PART_NUMBER, LAST)
    expect(await refusalOf(upload(to, MAX_PART_NUMBER + 1, LAST))).toBe('InvalidArgument 400')
    expect(await refusalOf(upload(to, 0, LAST))).toBe('InvalidArgument 400')
  })

  test('go to an upload of their key, whose id is never a path', async () => {
    const to = await begin('mine')
    expect(await refusalOf(upload({ ...to, Key: 'theirs' }, 1, LAST))).toBe('NoSuchUpload 404')
    for (const UploadId of ['nope', '../objects', '..', `./${to.UploadId}`]) {
      expect(await refusalOf(upload({ ...to, UploadId }, 1, LAST))).toBe('NoSuchUpload 404')
      expect(
        await refusalOf(s3.client().send(new AbortMultipartUploadCommand({ ...to, UploadId }))),
      ).toBe('NoSuchUpload 404')
    }
  })
})

describe('the checksum of the whole', () => {
  test.each([
    ['SHA256', undefined, 'COMPOSITE'],
    ['CRC32', undefined, 'COMPOSITE'],
    ['CRC32', 'FULL_OBJECT', 'FULL_OBJECT'],
    ['CRC64NVME', undefined, 'FULL_OBJECT'],
  ] as const)('by %s of type %s is %s', async (algorithm, ChecksumType, type) => {
    const Key = `sum-${algorithm}-${ChecksumType}`
    const options = { ChecksumAlgorithm: algorithm, ...(ChecksumType ? { ChecksumType } : {}) }
    const to = await begin(Key, options)
    const parts = [await upload(to, 1, FIRST), await upload(to, 2, LAST)]
    await complete(to, parts)
    const name = algorithm.toLowerCase() as Lowercase<typeof algorithm>
    const sums = Buffer.concat([digestOf(name, FIRST), digestOf(name, LAST)])
    const wanted =
      type === 'FULL_OBJECT'
        ? digestOf(name, WHOLE).toString('base64')
        : `${digestOf(name, sums).toString('base64')}-2`
    const object = await read(Key)
    expect(object.ChecksumType).toBe(type)
    expect(object[`Checksum${algorithm}`]).toBe(wanted)
  })

  test('has a type that goes with its algorithm', async () => {
    const refuse = (ChecksumAlgorithm: 'SHA256' | 'CRC64NVME', ChecksumType: ChecksumType) =>
      refusalOf(begin('refused', { ChecksumAlgorithm, ChecksumType }))
    expect(await refuse('SHA256', 'FULL_OBJECT')).toBe('InvalidRequest 400')
    expect(await refuse('CRC64NVME', 'COMPOSITE')).toBe('InvalidRequest 400')
  })
})
