import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { SignatureV4 } from '@smithy/signature-v4'
import { afterAll, beforeAll } from 'vitest'
import { setLogSink } from '../../../../lib/core/log.ts'
import { type S3Server, startS3 } from '../../../../lib/local/s3/server.ts'

// Clients that hang up are what some tests are about, and nothing to print.
const print = setLogSink(entry => {
  if (entry.level !== 'debug') print(entry)
})

export const CREDENTIALS = { accessKeyId: 'LOCALKEY', secretAccessKey: 'local-secret' }
export const REGION = 'eu-central-1'
export const BUCKET = 'media'

export type Answer = {
  status: number
  headers: IncomingHttpHeaders
  body: string
  /** The code of an error document. */
  code: string | undefined
}

export type Wire = {
  method: string
  /** Sent as it is, percent-encoded or not. */
  path: string
  headers?: Record<string, string>
  body?: string | Buffer
}

type TestS3 = Awaited<ReturnType<typeof startTestS3>>

/** The server of this file's tests, from the first `beforeAll` after `useTestS3` on. */
export let s3: TestS3

/** Starts a server for a file's tests, and stops it. */
export const useTestS3 = (): void => {
  beforeAll(async () => {
    s3 = await startTestS3()
  })
  afterAll(() => s3.stop())
}

/** A server of its own in a folder of its own, with one bucket. */
export const startTestS3 = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'espalier-s3-'))
  const options = { directory, credentials: CREDENTIALS, region: REGION }
  let server: S3Server = await startS3(options)
  const clientOf = (config: S3ClientConfig = {}) =>
    new S3Client({
      endpoint: server.url,
      region: REGION,
      credentials: CREDENTIALS,
      forcePathStyle: true,
      maxAttempts: 1,
      ...config,
    })
  let client = clientOf()
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }))

  return {
    directory,
    clientOf,
    client: () => client,
    server: () => server,
    /** Sends a request as it is given, without the tidying that `fetch` does. */
    send: (wire: Wire) => send(server.port, wire),
    /** The same with an Authorization header; `date` is when it claims to be signed. */
    sendSigned: async (wire: Wire, date: Date = new Date()) =>
      send(server.port, { ...wire, headers: await sign(client, server.port, wire, date) }),
    sign: (wire: Wire, date: Date = new Date()) => sign(client, server.port, wire, date),
    restart: async () => {
      await server.close()
      server = await startS3(options)
      client = clientOf()
    },
    stop: async () => {
      await server.close()
      await rm(directory, { recursive: true })
    },
  }
}

export const signerOf = (client: S3Client) =>
  new SignatureV4({
    credentials: CREDENTIALS,
    region: REGION,
    service: 's3',
    sha256: client.config.sha256,
    uriEscapePath: false,
  })

const sign = async (client: S3Client, port: number, wire: Wire, date: Date) => {
  const [path = '', query] = wire.path.split('?')
  const signed = await signerOf(client).sign(
    {
      method: wire.method,
      protocol: 'http:',
      hostname: '127.0.0.1',
      port,
      path,
      query: Object.fromEntries(new URLSearchParams(query)),
      headers: {
        host: `127.0.0.1:${port}`,
        'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
        ...wire.headers,
      },
    },
    { signingDate: date },
  )
  return signed.headers
}

const send = (port: number, { method, path, headers = {}, body }: Wire): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: '127.0.0.1', port, method, path, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const code = /<Code>([^<]+)/.exec(text)?.[1]
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text, code })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })

/** The name and status that the SDK gives a refusal, or "none" where there was none. */
export const refusalOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'none'
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const status =
      '$metadata' in error ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode : ''
    return `${error.name} ${status}`
  }
}
