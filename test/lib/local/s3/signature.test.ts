import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  MAX_CLOCK_SKEW_MS,
  MAX_PRESIGNED_SECONDS,
} from '../../../../lib/local/s3/authentication.ts'
import { BUCKET, refusalOf, s3, useTestS3 } from './harness.ts'

useTestS3()
beforeAll(async () => {
  await s3.client().send(new PutObjectCommand({ Bucket: BUCKET, Key: 'a', Body: 'hello' }))
  await s3.client().send(new PutObjectCommand({ Bucket: BUCKET, Key: 'b', Body: 'secret' }))
})

const SECOND_MS = 1000

describe('a signature in the header', () => {
  const get = { method: 'GET', path: `/${BUCKET}/a` }

  test('lets a request in', async () => {
    expect(await s3.sendSigned(get)).toMatchObject({ status: 200, body: 'hello' })
  })

  test('is required', async () => {
    expect(await s3.send(get)).toMatchObject({ status: 403, code: 'AccessDenied' })
    expect(await s3.send({ method: 'GET', path: '/' })).toMatchObject({ status: 403 })
  })

  test('fails with another secret, and with a key that nobody has', async () => {
    const command = new GetObjectCommand({ Bucket: BUCKET, Key: 'a' })
    const wrong = s3.clientOf({
      credentials: { accessKeyId: 'LOCALKEY', secretAccessKey: 'guess' },
    })
    expect(await refusalOf(wrong.send(command))).toBe('SignatureDoesNotMatch 403')
    const nobody = s3.clientOf({ credentials: { accessKeyId: 'NOBODY', secretAccessKey: 'guess' } })
    expect(await refusalOf(nobody.send(command))).toBe('InvalidAccessKeyId 403')
  })

  test('is good for one region, method, path, query and set of headers', async () => {
    const elsewhere = s3.clientOf({ region: 'us-west-2' })
    const command = new GetObjectCommand({ Bucket: BUCKET, Key: 'a' })
    expect(await refusalOf(elsewhere.send(command))).toBe('AuthorizationHeaderMalformed 400')

    const signed = { ...get, headers: await s3.sign({ ...get, headers: { 'x-amz-meta-a': '1' } }) }
    const refused = { status: 403, code: 'SignatureDoesNotMatch' }
    expect(await s3.send({ ...signed, method: 'DELETE' })).toMatchObject(refused)
    expect(await s3.send({ ...signed, path: `/${BUCKET}/b` })).toMatchObject(refused)
    expect(await s3.send({ ...signed, path: `/${BUCKET}/a?uploads` })).toMatchObject(refused)
    expect(
      await s3.send({ ...signed, headers: { ...signed.headers, 'x-amz-meta-a': '2' } }),
    ).toMatchObject(refused)
    expect(await s3.send(signed)).toMatchObject({ status: 200 })
  })

  test('covers every x-amz- header, so that a put can be made no copy of', async () => {
    const put = { method: 'PUT', path: `/${BUCKET}/copy` }
    const headers = { ...(await s3.sign(put)), 'x-amz-copy-source': `/${BUCKET}/b` }
    expect(await s3.send({ ...put, headers })).toMatchObject({ status: 403, code: 'AccessDenied' })
    expect(await s3.sendSigned({ method: 'GET', path: `/${BUCKET}/copy` })).toMatchObject({
      code: 'NoSuchKey',
    })
  })

  test('is refused beyond fifteen minutes of clock skew, either way', async () => {
    for (const direction of [-1, 1]) {
      const at = (ms: number) => new Date(Date.now() + direction * ms)
      expect(await s3.sendSigned(get, at(MAX_CLOCK_SKEW_MS + 5 * SECOND_MS))).toMatchObject({
        status: 403,
        code: 'RequestTimeTooSkewed',
      })
      expect(await s3.sendSigned(get, at(MAX_CLOCK_SKEW_MS - 5 * SECOND_MS))).toMatchObject({
        status: 200,
      })
    }
  })

  test('is not mixed with one in the query', async () => {
    const headers = await s3.sign(get)
    expect(await s3.send({ ...get, path: `${get.path}?X-Amz-Signature=0`, headers })).toMatchObject(
      { status: 400, code: 'InvalidArgument' },
    )
  })
})

describe('a presigned URL', () => {
  const presign = (Key: string, options: { expiresIn?: number; signingDate?: Date } = {}) =>
    getSignedUrl(s3.client(), new GetObjectCommand({ Bucket: BUCKET, Key }), {
      expiresIn: 60,
      ...options,
    })
  const codeOf = async (response: Response) => /<Code>([^<]+)/.exec(await response.text())?.[1]

  test('gets its object, with the response headers that it names', async () => {
    const command = new GetObjectCommand({
      Bucket: BUCKET,
      Key: 'a',
      ResponseContentType: 'text/csv',
      ResponseContentDisposition: 'attachment; filename="a b+c.csv"',
    })
    const response = await fetch(await getSignedUrl(s3.client(), command))
    expect(response.headers.get('content-type')).toBe('text/csv')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="a b+c.csv"')
    expect(await response.text()).toBe('hello')
  })

  test('is good for no other key, life, method or parameter', async () => {
    const url = await presign('a')
    const tampered = [
      url.replace('/a?', '/b?'),
      url.replace('Expires=60', 'Expires=61'),
      `${url}&response-content-type=text/html`,
      url.replace(/Signature=./, 'Signature=x'),
    ]
    for (const each of tampered) {
      expect(each).not.toBe(url)
      expect(await codeOf(await fetch(each))).toBe('SignatureDoesNotMatch')
    }
    expect(await codeOf(await fetch(url, { method: 'DELETE' }))).toBe('SignatureDoesNotMatch')
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(403)
    expect((await fetch(url)).status).toBe(200)
  })

  test('expires', async () => {
    const signingDate = new Date(Date.now() - 60 * SECOND_MS)
    const expired = await fetch(await presign('a', { expiresIn: 55, signingDate }))
    expect([expired.status, await codeOf(expired)]).toEqual([403, 'AccessDenied'])
    expect((await fetch(await presign('a', { expiresIn: 90, signingDate }))).status).toBe(200)
  })

  test('lives seven days at most', async () => {
    const url = await presign('a', { expiresIn: MAX_PRESIGNED_SECONDS })
    expect((await fetch(url)).status).toBe(200)
    const longer = `Expires=${MAX_PRESIGNED_SECONDS + 1}`
    const refused = await fetch(url.replace(`Expires=${MAX_PRESIGNED_SECONDS}`, longer))
    expect(await codeOf(refused)).toBe('AuthorizationQueryParametersError')
  })

  test('is not good before its time', async () => {
    const signingDate = new Date(Date.now() + MAX_CLOCK_SKEW_MS + 5 * SECOND_MS)
    expect(await codeOf(await fetch(await presign('a', { signingDate })))).toBe('AccessDenied')
  })

  test('of a put sets the metadata that it signs, and takes no other', async () => {
    const client = s3.clientOf({ requestChecksumCalculation: 'WHEN_REQUIRED' })
    const command = new PutObjectCommand({ Bucket: BUCKET, Key: 'put', Metadata: { run: '7' } })
    const url = await getSignedUrl(client, command)
    const more = await fetch(url, { method: 'PUT', body: 'x', headers: { 'x-amz-meta-by': 'me' } })
    expect(await codeOf(more)).toBe('AccessDenied')
    expect((await fetch(url, { method: 'PUT', body: 'x' })).status).toBe(200)
    const head = await client.send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'put' }))
    expect(head.Metadata).toEqual({ run: '7' })
  })
})
