import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteBucketCorsCommand,
  DeleteObjectCommand,
  GetBucketCorsCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutBucketCorsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { beforeAll, describe, expect, test } from 'vitest'
import { matchingRule } from '../../../../lib/local/s3/cors-rule.ts'
import { startS3 } from '../../../../lib/local/s3/server.ts'
import { BUCKET, CREDENTIALS, refusalOf, s3, useTestS3 } from './harness.ts'

useTestS3()

describe('a bucket', () => {
  const create = (Bucket: string) => s3.client().send(new CreateBucketCommand({ Bucket }))
  const head = (Bucket: string) => s3.client().send(new HeadBucketCommand({ Bucket }))

  test('is made once, found, listed and removed', async () => {
    await create('second.bucket')
    expect(await refusalOf(create('second.bucket'))).toBe('BucketAlreadyOwnedByYou 409')
    expect((await head('second.bucket')).BucketRegion).toBe('eu-central-1')
    const { Buckets = [] } = await s3.client().send(new ListBucketsCommand({}))
    expect(Buckets.map(bucket => bucket.Name)).toEqual([BUCKET, 'second.bucket'])
    await s3.client().send(new DeleteBucketCommand({ Bucket: 'second.bucket' }))
    expect(await refusalOf(head('second.bucket'))).toBe('NotFound 404')
    await create('second.bucket')
  })

  test('is removed only when empty; uploads that never ended go with it', async () => {
    await create('filled')
    const object = { Bucket: 'filled', Key: 'a' }
    const remove = () => s3.client().send(new DeleteBucketCommand({ Bucket: 'filled' }))
    await s3.client().send(new PutObjectCommand({ ...object, Body: 'x' }))
    await s3.client().send(new CreateMultipartUploadCommand(object))
    expect(await refusalOf(remove())).toBe('BucketNotEmpty 409')
    await s3.client().send(new DeleteObjectCommand(object))
    await remove()
    const list = new ListObjectsV2Command({ Bucket: 'filled' })
    expect(await refusalOf(s3.client().send(list))).toBe('NoSuchBucket 404')
  })

  test.each(['ab', 'a'.repeat(64), 'Upper', '..', 'a..b', '-ab', 'ab-', '1.2.3.4', 'a%2Fb'])(
    'may not be called %s',
    async name => {
      const answer = await s3.sendSigned({ method: 'PUT', path: `/${name}` })
      expect(answer.status).toBeGreaterThanOrEqual(400)
      const { Buckets = [] } = await s3.client().send(new ListBucketsCommand({}))
      expect(Buckets.map(bucket => bucket.Name)).not.toContain(name)
    },
  )

  test('made twice in us-east-1 is made once, without an error', async () => {
    const directory = `${s3.directory}/virginia`
    const server = await startS3({ directory, credentials: CREDENTIALS })
    const client = s3.clientOf({ endpoint: server.url, region: 'us-east-1' })
    for (let time = 0; time < 2; time++) {
      await client.send(new CreateBucketCommand({ Bucket: 'again' }))
    }
    await server.close()
  })
})

describe('CORS', () => {
  const Bucket = 'browsers'
  const RULES = [
    {
      ID: 'app',
      AllowedOrigins: ['https://app.example', 'https://*.test.example'],
      AllowedMethods: ['PUT', 'GET'],
      AllowedHeaders: ['content-type', 'x-amz-*'],
      ExposeHeaders: ['ETag'],
      MaxAgeSeconds: 600,
    },
    { AllowedOrigins: ['*'], AllowedMethods: ['HEAD'] },
  ]
  const ask = (origin: string, method: string, headers = '') =>
    s3.send({
      method: 'OPTIONS',
      path: `/${Bucket}/any`,
      headers: {
        origin,
        'access-control-request-method': method,
        ...(headers ? { 'access-control-request-headers': headers } : {}),
      },
    })

  beforeAll(async () => {
    await s3.client().send(new CreateBucketCommand({ Bucket }))
    const CORSConfiguration = { CORSRules: RULES }
    await s3.client().send(new PutBucketCorsCommand({ Bucket, CORSConfiguration }))
  })

  test('rules are given back as they were put, also after a restart', async () => {
    await s3.restart()
    const { CORSRules } = await s3.client().send(new GetBucketCorsCommand({ Bucket }))
    expect(CORSRules).toEqual(RULES)
  })

  test('lets through what a rule allows', async () => {
    const answer = await ask('https://app.example', 'PUT', 'Content-Type, x-amz-meta-a')
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-methods': 'PUT, GET',
        'access-control-allow-headers': 'content-type, x-amz-meta-a',
        'access-control-expose-headers': 'ETag',
        'access-control-max-age': '600',
      },
    })
    expect((await ask('https://a.test.example', 'GET')).status).toBe(200)
    const anyone = await ask('https://evil.example', 'HEAD')
    expect(anyone.headers['access-control-allow-origin']).toBe('*')
  })

  test.each([
    ['another origin', 'https://evil.example', 'PUT', ''],
    ['an origin that only ends alike', 'https://app.example.evil', 'PUT', ''],
    ['another method', 'https://app.example', 'DELETE', ''],
    ['another header', 'https://app.example', 'PUT', 'authorization'],
  ])('refuses %s', async (_, origin, method, headers) => {
    const answer = await ask(origin, method, headers)
    expect(answer).toMatchObject({ status: 403, code: 'AccessForbidden' })
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })

  test('does not count the same letters for both ends of a pattern', () => {
    const rule = { allowedMethods: ['GET' as const], allowedHeaders: [], exposeHeaders: [] }
    const match = (origin: string) =>
      matchingRule([{ ...rule, allowedOrigins: ['ab*ba'] }], { origin, method: 'GET', headers: [] })
    expect(match('aba')).toBeUndefined()
    expect(match('abba')).toBeDefined()
  })

  test('lets a page read its answers, refusals too, and no other page', async () => {
    const command = new PutObjectCommand({ Bucket, Key: 'any', Body: 'x' })
    const client = s3.clientOf({ requestChecksumCalculation: 'WHEN_REQUIRED' })
    const url = await getSignedUrl(client, command)
    const from = (origin: string, target = url) =>
      fetch(target, { method: 'PUT', body: 'x', headers: { origin } })
    const allowed = await from('https://app.example')
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example')
    const refused = await from('https://app.example', url.replace('Signature=', 'Signature=0'))
    expect(refused.status).toBe(403)
    expect(refused.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect((await from('https://evil.example')).headers.get('access-control-allow-origin')).toBe(
      null,
    )
  })

  test('is off where there are no rules', async () => {
    const none = s3.client().send(new GetBucketCorsCommand({ Bucket: BUCKET }))
    expect(await refusalOf(none)).toBe('NoSuchCORSConfiguration 404')
    await s3.client().send(new DeleteBucketCorsCommand({ Bucket }))
    expect((await ask('https://app.example', 'PUT')).status).toBe(403)
  })

  test('takes no rules that it would misread', async () => {
    const put = (rule: object) =>
      s3.client().send(
        new PutBucketCorsCommand({
          Bucket,
          CORSConfiguration: {
            CORSRules: [{ AllowedOrigins: ['*'], AllowedMethods: ['GET'], ...rule }],
          },
        }),
      )
    expect(await refusalOf(put({ AllowedMethods: ['PATCH'] }))).toBe('MalformedXML 400')
    expect(await refusalOf(put({ AllowedOrigins: ['*.*'] }))).toBe('MalformedXML 400')
  })
})
