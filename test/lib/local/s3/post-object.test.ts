import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { createPresignedPost, type PresignedPostOptions } from '@aws-sdk/s3-presigned-post'
import { describe, expect, test } from 'vitest'
import { MAX_FORM_BYTES } from '../../../../lib/local/s3/form.ts'
import { BUCKET, refusalOf, s3, useTestS3 } from './harness.ts'

useTestS3()

const [MINIMUM, MAXIMUM] = [10, 100]
const POLICY: PresignedPostOptions = {
  Bucket: BUCKET,
  Key: 'post/$' + '{filename}',
  Conditions: [
    ['content-length-range', MINIMUM, MAXIMUM],
    ['starts-with', '$Content-Type', 'text/'],
  ],
  Fields: { 'Content-Type': 'text/csv' },
  Expires: 60,
}

/** Uploads `file` by a form whose fields `change` may tamper with. */
const post = async (
  file: string | Buffer,
  options: {
    policy?: Partial<PresignedPostOptions>
    change?: (fields: Record<string, string>) => void
    name?: string
    bucket?: string
  } = {},
) => {
  // One of the two clients that are installed is older by a version; only its types differ.
  const client = s3.client() as unknown as Parameters<typeof createPresignedPost>[0]
  const { url, fields } = await createPresignedPost(client, { ...POLICY, ...options.policy })
  options.change?.(fields)
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new Blob([new Uint8Array(Buffer.from(file))]), options.name ?? 'f.csv')
  const target = options.bucket ? url.replace(BUCKET, options.bucket) : url
  const response = await fetch(target, { method: 'POST', body: form, redirect: 'manual' })
  const body = await response.text()
  const code = /<Code>([^<]+)/.exec(body)?.[1]
  return { status: response.status, headers: response.headers, body, code }
}

const read = async (Key: string) => {
  const object = await s3.client().send(new GetObjectCommand({ Bucket: BUCKET, Key }))
  return { ...object, bytes: Buffer.from((await object.Body?.transformToByteArray()) ?? []) }
}
const FILE = 'x'.repeat(50)
const DENIED = { status: 403, code: 'AccessDenied' }

describe('a presigned POST', () => {
  test('stores its file under the name that the browser gives, without folders', async () => {
    expect(await post(FILE, { name: 'C:\\docs\\é b.csv' })).toMatchObject({ status: 204 })
    const object = await read('post/é b.csv')
    expect(object.bytes.toString()).toBe(FILE)
    expect(object.ContentType).toBe('text/csv')
  })

  test('keeps a file that looks like the end of a form byte for byte', async () => {
    const file = Buffer.concat([Buffer.from('\r\n--\r\n----'), randomBytes(3_000_000)])
    const policy = { Key: 'post/big', Conditions: [['content-length-range', 0, 1e7] as never] }
    const conditions = [...policy.Conditions, ['starts-with', '$Content-Type', ''] as never]
    expect((await post(file, { policy: { ...policy, Conditions: conditions } })).status).toBe(204)
    expect((await read('post/big')).bytes.equals(file)).toBe(true)
  })

  test('holds the file to its length, both ends counted', async () => {
    expect((await post('x'.repeat(MINIMUM))).status).toBe(204)
    expect((await post('x'.repeat(MAXIMUM))).status).toBe(204)
    const name = 'length.csv'
    const short = await post('x'.repeat(MINIMUM - 1), { name })
    expect(short).toMatchObject({ status: 400, code: 'EntityTooSmall' })
    const long = await post('x'.repeat(MAXIMUM + 1), { name })
    expect(long).toMatchObject({ status: 400, code: 'EntityTooLarge' })
    const huge = await post(Buffer.alloc(5_000_000), { name })
    expect(huge).toMatchObject({ status: 400, code: 'EntityTooLarge' })
    expect(await refusalOf(read(`post/${name}`))).toBe('NoSuchKey 404')
    expect(await readdir(join(s3.directory, 'drafts'))).toEqual([])
  })

  test.each<[string, (fields: Record<string, string>) => void]>([
    ['another key', fields => Object.assign(fields, { key: 'other/x' })],
    ['another type', fields => Object.assign(fields, { 'Content-Type': 'image/png' })],
    ['a field missing', fields => delete fields['Content-Type']],
    ['metadata nobody granted', fields => Object.assign(fields, { 'x-amz-meta-a': '1' })],
    ['a status nobody granted', fields => Object.assign(fields, { success_action_status: '201' })],
    ['no policy', fields => delete fields.Policy],
    ['no signature', fields => delete fields['X-Amz-Signature']],
  ])('is refused with %s', async (_, change) => {
    expect(await post(FILE, { change })).toMatchObject(DENIED)
  })

  test('is refused with another signature, policy, secret or bucket', async () => {
    const tamper = (name: string, to: (value: string) => string) =>
      post(FILE, {
        change: fields => Object.assign(fields, { [name]: to(fields[name] ?? '') }),
      })
    const mismatch = { status: 403, code: 'SignatureDoesNotMatch' }
    const flip = (text: string) => (text.startsWith('0') ? '1' : '0') + text.slice(1)
    expect(await tamper('X-Amz-Signature', flip)).toMatchObject(mismatch)
    const widen = (policy: string) =>
      Buffer.from(
        Buffer.from(policy, 'base64').toString().replace(`${MINIMUM},${MAXIMUM}`, '0,9999'),
      ).toString('base64')
    expect(await tamper('Policy', widen)).toMatchObject(mismatch)
    const rename = (text: string) => text.replace(/^[^/]+/, 'NOBODY')
    expect(await tamper('X-Amz-Credential', rename)).toMatchObject({ code: 'InvalidAccessKeyId' })
    expect(await post(FILE, { bucket: 'other' })).toMatchObject(DENIED)
  })

  test('is refused once its policy has expired', async () => {
    expect(await post(FILE, { policy: { Expires: -1 } })).toMatchObject(DENIED)
  })

  test('ignores fields that say they are to be ignored', async () => {
    const change = (fields: Record<string, string>) => {
      fields['x-ignore-csrf'] = 'token'
    }
    expect((await post(FILE, { change })).status).toBe(204)
  })

  test('answers with the document or the redirect that its fields ask for', async () => {
    const asking = (Fields: Record<string, string>) => {
      const conditions = Object.entries(Fields).map(([name, value]) => ({ [name]: value }))
      const Conditions = [...(POLICY.Conditions ?? []), ...conditions]
      const policy = { Conditions, Fields: { ...POLICY.Fields, ...Fields } }
      return post(FILE, { policy })
    }
    const document = await asking({ success_action_status: '201' })
    expect(document.status).toBe(201)
    expect(document.body).toContain('<Key>post/f.csv</Key>')
    const redirect = await asking({ success_action_redirect: 'https://app.example/done?a=1' })
    expect(redirect.status).toBe(303)
    expect(redirect.headers.get('location')).toMatch(
      /^https:\/\/app\.example\/done\?a=1&bucket=media&key=post%2Ff\.csv&etag=/,
    )
  })

  test('stores metadata and checks a checksum that its policy covers', async () => {
    const Fields = { 'x-amz-meta-run': '7', 'x-amz-checksum-crc32': 'AAAAAA==' }
    const conditions = Object.entries(Fields).map(([name, value]) => ({ [name]: value }))
    const policy = {
      Conditions: [...(POLICY.Conditions ?? []), ...conditions],
      Fields: { ...POLICY.Fields, ...Fields },
    }
    const wrong = await post(FILE, { policy, name: 'checked.csv' })
    expect(wrong).toMatchObject({ status: 400, code: 'BadDigest' })
    expect(await refusalOf(read('post/checked.csv'))).toBe('NoSuchKey 404')
  })

  test('has a form of 20 KB at most before its file, and a file', async () => {
    const pad = (bytes: number) => (fields: Record<string, string>) => {
      fields['x-ignore-padding'] = 'p'.repeat(bytes)
    }
    expect((await post(FILE, { change: pad(MAX_FORM_BYTES - 4096) })).status).toBe(204)
    expect(await post(FILE, { change: pad(MAX_FORM_BYTES) })).toMatchObject({
      status: 400,
      code: 'MaxPostPreDataLengthExceededError',
    })
    const boundary = 'b'
    const send = (body: string, type = `multipart/form-data; boundary=${boundary}`) =>
      s3.send({ method: 'POST', path: `/${BUCKET}`, headers: { 'content-type': type }, body })
    const field = '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\na\r\n'
    expect(await send(`${field}--b--\r\n`)).toMatchObject({ status: 400, code: 'InvalidArgument' })
    expect(await send(`${field}${field}--b--\r\n`)).toMatchObject({ code: 'InvalidArgument' })
    expect(await send(field)).toMatchObject({ code: 'MalformedPOSTRequest' })
    expect(await send('key=a', 'text/plain')).toMatchObject({ code: 'MalformedPOSTRequest' })
  })
})
