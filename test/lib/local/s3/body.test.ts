import { createHash, randomBytes } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import {
  ChecksumAlgorithm,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { describe, expect, test } from 'vitest'
import { MAX_PUT_BYTES } from '../../../../lib/local/s3/body.ts'
import { digestOf } from '../../../../lib/local/s3/checksum.ts'
import { BUCKET, REGION, refusalOf, s3, signerOf, useTestS3 } from './harness.ts'

useTestS3()

const read = async (Key: string): Promise<Buffer> => {
  const { Body } = await s3.client().send(new GetObjectCommand({ Bucket: BUCKET, Key }))
  return Buffer.from((await Body?.transformToByteArray()) ?? [])
}
const isThere = async (Key: string): Promise<boolean> =>
  (await refusalOf(s3.client().send(new HeadObjectCommand({ Bucket: BUCKET, Key })))) === 'none'
const base64Crc32 = (bytes: Buffer): string => {
  const value = Buffer.alloc(4)
  value.writeUInt32BE(crc32(bytes))
  return value.toString('base64')
}

describe('checksums', () => {
  test('have the values that their specifications give for "123456789"', () => {
    const hex = (name: Parameters<typeof digestOf>[0]) =>
      digestOf(name, Buffer.from('123456789')).toString('hex')
    expect(hex('crc32')).toBe('cbf43926')
    expect(hex('crc32c')).toBe('e3069283')
    expect(hex('crc64nvme')).toBe('ae8b14860a799888')
  })

  test.each(['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const)(
    '%s of the SDK is checked, kept and given back',
    async algorithm => {
      const body = randomBytes(70_000)
      const Key = `checksum-${algorithm}`
      const put = { Bucket: BUCKET, Key, Body: body, ChecksumAlgorithm: algorithm }
      await s3.client().send(new PutObjectCommand(put))
      const head = await s3
        .client()
        .send(new HeadObjectCommand({ Bucket: BUCKET, Key, ChecksumMode: 'ENABLED' }))
      const name = algorithm.toLowerCase() as Lowercase<typeof algorithm>
      expect(head[`Checksum${algorithm}`]).toBe(digestOf(name, body).toString('base64'))
      expect(await read(Key)).toEqual(body)
    },
  )

  test('that are wrong leave nothing behind', async () => {
    const put = { method: 'PUT', path: `/${BUCKET}/wrong`, body: 'hello' }
    const wrong = createHash('sha256').update('other').digest()
    const cases = [
      [{ 'x-amz-checksum-crc32': 'AAAAAA==' }, 'BadDigest'],
      [{ 'x-amz-checksum-sha256': wrong.toString('base64') }, 'BadDigest'],
      [{ 'content-md5': wrong.subarray(0, 16).toString('base64') }, 'BadDigest'],
      [{ 'content-md5': 'short' }, 'InvalidDigest'],
      [{ 'x-amz-content-sha256': wrong.toString('hex') }, 'XAmzContentSHA256Mismatch'],
      [{ 'x-amz-content-sha256': 'nonsense' }, 'InvalidArgument'],
      [
        { 'x-amz-checksum-crc32': 'NhCmhg==', 'x-amz-checksum-crc32c': 'AAAAAA==' },
        'InvalidRequest',
      ],
    ] as const
    for (const [headers, code] of cases) {
      expect(await s3.sendSigned({ ...put, headers })).toMatchObject({ status: 400, code })
    }
    expect(await isThere('wrong')).toBe(false)
    expect(await readdir(join(s3.directory, 'drafts'))).toEqual([])
  })
})

describe('an aws-chunked body', () => {
  test('of the SDK arrives without its framing, in any pieces', async () => {
    const pieces = [randomBytes(1), randomBytes(70_000), randomBytes(100_000), randomBytes(3)]
    const whole = Buffer.concat(pieces)
    await s3.client().send(
      new PutObjectCommand({
        Bucket: BUCKET,
        Key: 'stream',
        Body: Readable.from(pieces),
        ContentLength: whole.length,
        ContentEncoding: 'gzip',
        ChecksumAlgorithm: ChecksumAlgorithm.CRC32C,
      }),
    )
    expect(await read('stream')).toEqual(whole)
    const head = await s3
      .client()
      .send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'stream', ChecksumMode: 'ENABLED' }))
    expect(head.ContentEncoding).toBe('gzip')
    expect(head.ChecksumCRC32C).toBe(digestOf('crc32c', whole).toString('base64'))
  })

  const sendTrailed = (body: string, headers: Record<string, string> = {}) =>
    s3.sendSigned({
      method: 'PUT',
      path: `/${BUCKET}/trailed`,
      headers: {
        'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
        'x-amz-trailer': 'x-amz-checksum-crc32',
        'x-amz-decoded-content-length': '5',
        ...headers,
      },
      body,
    })
  const TRAILER = 'x-amz-checksum-crc32:NhCmhg==\r\n'

  test('is taken with the checksum that its trailer brings', async () => {
    expect(await sendTrailed(`2\r\nhe\r\n3\r\nllo\r\n0\r\n${TRAILER}\r\n`)).toMatchObject({
      status: 200,
      headers: { 'x-amz-checksum-crc32': 'NhCmhg==' },
    })
    expect((await read('trailed')).toString()).toBe('hello')
  })

  test.each([
    ['a wrong checksum', '5\r\nhellO\r\n0\r\n' + TRAILER + '\r\n', 'BadDigest'],
    ['no checksum', '5\r\nhello\r\n0\r\n\r\n', 'MalformedTrailerError'],
    ['another length', '4\r\nhell\r\n0\r\n' + TRAILER + '\r\n', 'IncompleteBody'],
    ['more than its length', '6\r\nhello!\r\n0\r\n' + TRAILER + '\r\n', 'IncompleteBody'],
    ['a chunk cut short', '9\r\nhello', 'IncompleteBody'],
    ['no end', '5\r\nhello\r\n', 'IncompleteBody'],
    ['no framing', 'hello', 'IncompleteBody'],
  ])('with %s is refused, and the old object stays', async (_, body, code) => {
    await sendTrailed(`5\r\nhello\r\n0\r\n${TRAILER}\r\n`)
    expect(await sendTrailed(body)).toMatchObject({ status: 400, code })
    expect((await read('trailed')).toString()).toBe('hello')
  })

  test('must say its length', async () => {
    const headers = await s3.sign({ method: 'PUT', path: `/${BUCKET}/trailed` })
    const put = { method: 'PUT', path: `/${BUCKET}/trailed` }
    expect(
      await s3.sendSigned({
        ...put,
        headers: { 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' },
        body: '0\r\n\r\n',
      }),
    ).toMatchObject({ status: 411, code: 'MissingContentLength' })
    expect(
      await s3.send({
        ...put,
        headers: { ...headers, 'transfer-encoding': 'chunked' },
        body: 'hello',
      }),
    ).toMatchObject({ status: 411, code: 'MissingContentLength' })
  })
})

describe('a body of signed chunks', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

  /** What an SDK of another language sends: every chunk, and the trailer, signed in a chain. */
  const sendChunks = async (
    chunks: string[],
    options: { tamper?: (body: string) => string; hasTrailer?: boolean } = {},
  ) => {
    const at = new Date()
    const kind = `STREAMING-AWS4-HMAC-SHA256-PAYLOAD${options.hasTrailer ? '-TRAILER' : ''}`
    const whole = chunks.join('')
    const wire = { method: 'PUT', path: `/${BUCKET}/signed-chunks` }
    const headers = await s3.sign(
      {
        ...wire,
        headers: {
          'x-amz-content-sha256': kind,
          'x-amz-decoded-content-length': String(whole.length),
          ...(options.hasTrailer ? { 'x-amz-trailer': 'x-amz-checksum-crc32' } : {}),
        },
      },
      at,
    )
    const date = headers['x-amz-date'] ?? ''
    const scope = `${date.slice(0, 8)}/${REGION}/s3/aws4_request`
    let previous = headers.authorization?.split('Signature=')[1] ?? ''
    const link = async (name: string, ...hashes: string[]) => {
      const text = [`AWS4-HMAC-SHA256-${name}`, date, scope, previous, ...hashes].join('\n')
      previous = await signerOf(s3.client()).sign(text, { signingDate: at })
      return previous
    }
    let body = ''
    for (const chunk of [...chunks, '']) {
      const signature = await link('PAYLOAD', sha256(''), sha256(chunk))
      body += `${chunk.length.toString(16)};chunk-signature=${signature}\r\n${chunk}`
      body += chunk || !options.hasTrailer ? '\r\n' : ''
    }
    if (options.hasTrailer) {
      const checksum = `x-amz-checksum-crc32:${base64Crc32(Buffer.from(whole))}`
      const signature = await link('TRAILER', sha256(`${checksum}\n`))
      body += `${checksum}\r\nx-amz-trailer-signature:${signature}\r\n\r\n`
    }
    return s3.send({ ...wire, headers, body: options.tamper?.(body) ?? body })
  }

  test('is taken, with and without a trailer', async () => {
    expect(await sendChunks(['first ', 'second'])).toMatchObject({ status: 200 })
    expect((await read('signed-chunks')).toString()).toBe('first second')
    expect(await sendChunks(['third ', 'fourth'], { hasTrailer: true })).toMatchObject({
      status: 200,
    })
    expect((await read('signed-chunks')).toString()).toBe('third fourth')
  })

  test('is refused where a byte, an order or a trailer is another', async () => {
    await sendChunks(['first ', 'second'])
    const refused = { status: 403, code: 'SignatureDoesNotMatch' }
    const flip = (body: string) => body.replace('aaaa', 'aaab')
    expect(await sendChunks(['aaaa', 'bbbb'], { tamper: flip })).toMatchObject(refused)
    const swap = (body: string) => {
      const [a = '', x = '', b = '', y = '', ...rest] = body.split('\r\n')
      return [b, y, a, x, ...rest].join('\r\n')
    }
    expect(await sendChunks(['aaaa', 'bbbb'], { tamper: swap })).toMatchObject(refused)
    const unsigned = (body: string) => body.replaceAll(/;chunk-signature=[0-9a-f]+/g, '')
    expect(await sendChunks(['aaaa'], { tamper: unsigned })).toMatchObject(refused)
    const retrail = (body: string) => body.replace(/crc32:..../, 'crc32:AAAA')
    expect(await sendChunks(['aaaa'], { hasTrailer: true, tamper: retrail })).toMatchObject(refused)
    expect((await read('signed-chunks')).toString()).toBe('first second')
  })
})

describe('a long body', () => {
  test('is refused before it is sent where the signature is wrong or it is too long', async () => {
    const wire = { method: 'PUT', path: `/${BUCKET}/long` }
    const start = (headers: Record<string, string>) =>
      new Promise<{ status: number; continued: boolean }>((resolve, reject) => {
        let continued = false
        const { port } = s3.server()
        const outgoing = httpRequest({ host: '127.0.0.1', port, ...wire, headers }, response => {
          resolve({ status: response.statusCode ?? 0, continued })
          outgoing.destroy()
        })
        outgoing.on('continue', () => {
          continued = true
          outgoing.destroy()
          resolve({ status: 100, continued })
        })
        outgoing.on('error', reject)
        outgoing.flushHeaders()
      })
    const length = (bytes: number) => ({ 'content-length': String(bytes) })
    const expecting = { expect: '100-continue' }
    expect(await start({ ...length(1e9), authorization: 'nonsense' })).toMatchObject({
      status: 400,
    })
    expect(await start({ ...length(1e9), ...expecting })).toEqual({ status: 403, continued: false })
    const signed = (bytes: number) => s3.sign({ ...wire, headers: length(bytes) })
    expect(await start({ ...(await signed(MAX_PUT_BYTES + 1)), ...expecting })).toEqual({
      status: 400,
      continued: false,
    })
    expect(await start({ ...(await signed(MAX_PUT_BYTES)), ...expecting })).toMatchObject({
      continued: true,
    })
  })

  test('goes to the disk as it comes, and is dropped if its sender does not finish', async () => {
    const drafts = join(s3.directory, 'drafts')
    const size = 32 * 1024 ** 2
    const wire = {
      method: 'PUT',
      path: `/${BUCKET}/half`,
      headers: { 'content-length': `${size}` },
    }
    const headers = Object.entries(await s3.sign(wire))
    const socket = connect(s3.server().port, '127.0.0.1')
    socket.write(`PUT ${wire.path} HTTP/1.1\r\n`)
    socket.write(headers.map(([name, value]) => `${name}: ${value}\r\n`).join('') + '\r\n')
    socket.write(Buffer.alloc(size / 2))
    const written = async () => {
      const [name] = await readdir(drafts)
      return name === undefined ? 0 : (await stat(join(drafts, name))).size
    }
    await expect.poll(written, { timeout: 10_000 }).toBe(size / 2)
    socket.destroy()
    await expect.poll(() => readdir(drafts), { timeout: 10_000 }).toEqual([])
    expect(await isThere('half')).toBe(false)
  })

  test('that is refused half way is drained, and the connection serves the next', async () => {
    const put = { method: 'PUT', path: `/${BUCKET}/drained` }
    const framed = `1;nonsense\r\n${'x'.repeat(4_000_000)}`
    const refused = await s3.sendSigned({
      ...put,
      headers: {
        'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
        'x-amz-decoded-content-length': '4000000',
      },
      body: framed,
    })
    expect(refused).toMatchObject({ status: 400, code: 'IncompleteBody' })
    await sleep(10)
    expect(await s3.sendSigned({ ...put, body: 'x' })).toMatchObject({ status: 200 })
  })
})
