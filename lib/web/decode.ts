import { pipeline, Readable, type Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'

type Bytes = AsyncIterable<Uint8Array>

/** RFC 9659: what decodes zstd for the web has a window of 8 MiB, and need not have more. */
const ZSTD_WINDOW_LOG = 23
/** The low half of a zlib stream's first byte says that it is one (RFC 1950). */
const ZLIB_METHOD = 8

const DECODERS: Record<string, (firstByte: number) => Transform> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  // By the standard it is zlib's format; some servers send the bare one.
  deflate: firstByte => ((firstByte & 0xf) === ZLIB_METHOD ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
  zstd: () =>
    createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
}

/**
 * The codings that are to be undone, the last one first. None where one of them isn't known: the
 * body is then handed on as it came, as browsers do.
 */
export const encodingsOf = (header: string | null): string[] => {
  const names = (header ?? '')
    .split(',')
    .map(name => name.trim().toLowerCase())
    .filter(name => name !== '' && name !== 'identity')
  return names.every(name => Object.hasOwn(DECODERS, name)) ? names.reverse() : []
}

/** The bytes without one coding. An empty body needs no decoding, whatever its headers say. */
export async function* decode(source: Bytes, encoding: string): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]()
  const first = await chunks.next()
  const makeDecoder = DECODERS[encoding]
  if (first.done || !makeDecoder) return
  const decoder = makeDecoder(first.value[0] ?? 0)
  // The pipeline tears down both ends, and its error comes out of the decoder.
  pipeline(Readable.from(following(first.value, chunks)), decoder, () => {})
  yield* decoder
}

/** The bytes, for as long as there are no more than these; then what `tooMany` makes is thrown. */
export async function* atMost(
  source: Bytes,
  maxBytes: number,
  tooMany: () => Error,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw tooMany()
    yield chunk
  }
}

async function* following(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield first
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
