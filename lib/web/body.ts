import { AppError } from '../core/errors.ts'
import { atMost, decode, encodingsOf } from './decode.ts'
import type { Answer } from './exchange.ts'
import { connectionFailure, failed } from './failure.ts'
import type { Limits } from './limits.ts'
import type { Watch } from './watch.ts'

type Reading = { url: URL; answer: Answer; limits: Limits; watch: Watch }

/**
 * An answer's body, decoded, as it is read: nothing is taken from the socket before somebody asks.
 * Reading fails with FETCH_FAILED where it is larger, slower or otherwise not what was promised.
 */
export const bodyStream = (reading: Reading): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const { url, answer, watch } = reading
  const chunks = decoded(reading)
  const end = () => {
    watch.end()
    answer.body.destroy()
  }
  return new ReadableStream(
    {
      pull: async controller => {
        try {
          const { done, value } = await chunks.next()
          if (!done) return controller.enqueue(new Uint8Array(value))
          end()
          controller.close()
        } catch (error) {
          end()
          controller.error(watch.signal.aborted ? watch.signal.reason : readingFailure(url, error))
        }
      },
      cancel: async () => {
        end()
        // Decoders hold memory that is not the collector's until they are closed.
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

const decoded = ({ url, answer, limits, watch }: Reading): AsyncGenerator<Uint8Array> => {
  const { maxBodyBytes, maxEncodings } = limits
  const tooLarge = () =>
    failed(url, `sends more than ${maxBodyBytes} bytes, which is the most that is read of it.`)
  if (Number(answer.headers.get('content-length') ?? 0) > maxBodyBytes) throw tooLarge()
  const encodings = encodingsOf(answer.headers.get('content-encoding'))
  if (encodings.length > maxEncodings)
    throw failed(url, `encodes its body ${encodings.length} times; ${maxEncodings} are undone.`)
  // Each stage has the cap: one that comes to nothing may be fed without end.
  let bytes = atMost(received({ url, answer, limits, watch }), maxBodyBytes, tooLarge)
  for (const encoding of encodings) bytes = atMost(decode(bytes, encoding), maxBodyBytes, tooLarge)
  return bytes
}

/** What the socket brings; only the time in which somebody waits for it counts as the server's. */
async function* received({ url, answer, limits, watch }: Reading): AsyncGenerator<Uint8Array> {
  const awaitNext = () =>
    watch.expect({
      url,
      milliseconds: limits.idleTimeoutMs,
      problem: 'sent nothing more of its body',
    })
  try {
    awaitNext()
    for await (const chunk of answer.body) {
      watch.rest()
      yield chunk
      awaitNext()
    }
  } finally {
    watch.rest()
  }
}

const readingFailure = (url: URL, error: unknown): AppError => {
  if (error instanceof AppError) return error
  if (error instanceof Error && 'code' in error && DECODING.test(String(error.code)))
    return failed(url, 'sends a body that is not encoded as it says.', { cause: error })
  return connectionFailure(url, error)
}

/** Codes of zlib, Brotli and Zstandard. */
const DECODING = /^(Z_|ERR_|ZSTD_)/
