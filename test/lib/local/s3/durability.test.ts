import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { setLogSink } from '../../../../lib/core/log.ts'
import { startS3 } from '../../../../lib/local/s3/server.ts'
import { BUCKET, CREDENTIALS, REGION, startTestS3 } from './harness.ts'

const SERVER = pathToFileURL(join(import.meta.dirname, '../../../../lib/local/s3/server.ts')).href

describe('a restart', () => {
  test('keeps buckets, objects, metadata and the order of lists', async () => {
    const s3 = await startTestS3()
    const keys = ['b', 'a/../b', '😀', '\uffee', 'a']
    for (const Key of keys) {
      const put = { Bucket: BUCKET, Key, Body: `body of ${Key}`, Metadata: { a: '1' } }
      await s3.client().send(new PutObjectCommand(put))
    }
    const list = async () =>
      (await s3.client().send(new ListObjectsV2Command({ Bucket: BUCKET }))).Contents
    const before = await list()
    await s3.restart()
    expect(await list()).toEqual(before)
    for (const Key of keys) {
      const object = await s3.client().send(new GetObjectCommand({ Bucket: BUCKET, Key }))
      expect(await object.Body?.transformToString()).toBe(`body of ${Key}`)
      expect(object.Metadata).toEqual({ a: '1' })
    }
    await s3.stop()
  })

  test('on a port that is taken fails, and leaves the drafts of its owner alone', async () => {
    const s3 = await startTestS3()
    const draft = join(s3.directory, 'drafts', 'being-written')
    await writeFile(draft, 'half')
    const { port } = s3.server()
    const second = startS3({ directory: s3.directory, port, credentials: CREDENTIALS })
    await expect(second).rejects.toThrow('EADDRINUSE')
    expect(await readdir(join(s3.directory, 'drafts'))).toEqual(['being-written'])
    await s3.restart()
    expect(await readdir(join(s3.directory, 'drafts'))).toEqual([])
    await s3.stop()
  })

  test('passes over a file that was not written whole, and says so', async () => {
    const s3 = await startTestS3()
    await s3.client().send(new PutObjectCommand({ Bucket: BUCKET, Key: 'a', Body: 'x' }))
    const objects = join(s3.directory, 'buckets', BUCKET, 'objects')
    await writeFile(join(objects, 'f'.repeat(64)), 'half of an obj')
    const events: string[] = []
    const print = setLogSink(entry => events.push(entry.event))
    await s3.restart()
    setLogSink(print)
    expect(events).toEqual(['s3-object-unreadable'])
    const { Contents } = await s3.client().send(new ListObjectsV2Command({ Bucket: BUCKET }))
    expect(Contents?.map(object => object.Key)).toEqual(['a'])
    await s3.stop()
  })
})

describe('a process that is killed', () => {
  let directory: string
  let child: ChildProcess

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'espalier-s3-killed-'))
  })
  afterEach(async () => {
    child.kill('SIGKILL')
    await rm(directory, { recursive: true })
  })

  /** Starts a server in a process of its own, and returns a client of it. */
  const start = async () => {
    const options = { directory, credentials: CREDENTIALS, region: REGION }
    const source = `
      import { startS3 } from ${JSON.stringify(SERVER)}
      console.log((await startS3(${JSON.stringify(options)})).url)
    `
    child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (!child.stdout) throw new Error('The child must have an output.')
    const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
    return new S3Client({
      endpoint: url,
      region: REGION,
      credentials: CREDENTIALS,
      forcePathStyle: true,
      maxAttempts: 1,
      requestChecksumCalculation: 'WHEN_REQUIRED',
    })
  }

  test('in the middle of a put leaves the old object whole and nothing of the new', async () => {
    const object = { Bucket: BUCKET, Key: 'kept' }
    const client = await start()
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }))
    await client.send(new PutObjectCommand({ ...object, Body: 'old', Metadata: { a: 'old' } }))

    const size = 8 * 1024 ** 2
    const put = new PutObjectCommand({ ...object, Metadata: { a: 'new' } })
    const url = new URL(await getSignedUrl(client, put))
    const socket = connect(Number(url.port), url.hostname)
    socket.on('error', () => {})
    socket.write(`PUT ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`)
    socket.write(`content-length: ${size}\r\n\r\n`)
    socket.write(Buffer.alloc(size - 1))
    await expect.poll(() => readdir(join(directory, 'drafts')), { timeout: 10_000 }).toHaveLength(1)
    child.kill('SIGKILL')
    await once(child, 'exit')

    const again = await start()
    const kept = await again.send(new GetObjectCommand(object))
    expect(await kept.Body?.transformToString()).toBe('old')
    expect(kept.Metadata).toEqual({ a: 'old' })
    expect(await readdir(join(directory, 'drafts'))).toEqual([])
  })

  test('among many puts has kept every object that it said it had', async () => {
    const client = await start()
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }))
    const acknowledged = new Set<number>()
    const puts = Array.from({ length: 40 }, async (_, index) => {
      const put = { Bucket: BUCKET, Key: `k${index}`, Body: `body ${index}`.repeat(index + 1) }
      await client.send(new PutObjectCommand(put))
      acknowledged.add(index)
      if (acknowledged.size === 15) child.kill('SIGKILL')
    })
    await Promise.allSettled(puts)
    expect(acknowledged.size).toBeGreaterThanOrEqual(15)

    const again = await start()
    const { Contents = [] } = await again.send(new ListObjectsV2Command({ Bucket: BUCKET }))
    const listed = Contents.map(object => object.Key)
    expect(listed).toEqual(expect.arrayContaining([...acknowledged].map(index => `k${index}`)))
    for (const Key of listed) {
      const object = await again.send(new GetObjectCommand({ Bucket: BUCKET, Key }))
      const index = Number(Key?.slice(1))
      expect(await object.Body?.transformToString()).toBe(`body ${index}`.repeat(index + 1))
    }
  })
})
