import { PassThrough, type Readable, Writable } from 'node:stream'
import type { AwsLambda } from '../../http/streaming-handler.ts'

/** What a streaming function says before its body. */
export type Metadata = { statusCode: number; headers: Record<string, string>; cookies: string[] }

type LocalStream = Writable & { begin: (metadata: Metadata) => void }

/** What Lambda answers with where a function writes without having said anything else. */
const UNSAID: Metadata = {
  statusCode: 200,
  headers: { 'content-type': 'application/octet-stream' },
  cookies: [],
}

/**
 * The stream that a function writes its response to, and what comes out of it. `began` is told the
 * status and headers with the first write. Where the reader destroys the body, the function's stream
 * closes: so it learns that a client has gone, which Lambda would tell it nothing of.
 */
export const createResponseStream = (
  began: (metadata: Metadata) => void,
): { responseStream: Writable; body: Readable } => {
  const body = new PassThrough()
  let metadata = UNSAID
  let isBegun = false
  const begin = () => {
    if (!isBegun) began(metadata)
    isBegun = true
  }
  const responseStream: LocalStream = Object.assign(
    new Writable({
      write: (chunk, _encoding, done) => {
        begin()
        if (chunk.length === 0 || body.write(chunk)) return done()
        body.once('drain', done)
      },
      final: done => {
        begin()
        body.end()
        done()
      },
    }),
    {
      begin: (said: Metadata) => {
        metadata = said
      },
    },
  )
  body.once('close', () => responseStream.destroy())
  // Nobody else listens where the function has ended already.
  body.on('error', () => {})
  responseStream.on('error', () => {})
  return { responseStream, body }
}

/** The global that Lambda's runtime for Node gives to functions that stream. */
const awslambda: AwsLambda = {
  streamifyResponse: handler => handler,
  HttpResponseStream: {
    from: (responseStream, metadata) => {
      ;(responseStream as LocalStream).begin(metadata)
      return responseStream
    },
  },
}

export const provideAwsLambda = (): void => {
  const holder = globalThis as { awslambda?: object }
  // An SDK keeps things of its own there.
  holder.awslambda = { ...holder.awslambda, ...awslambda }
}
