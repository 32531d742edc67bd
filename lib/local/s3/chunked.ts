import { createHash } from 'node:crypto'
import { mismatch } from './authentication.ts'
import { S3Error } from './errors.ts'
import type { ChunkSigning } from './payload.ts'
import { createReader } from './reader.ts'
import { sameSignature, sha256 } from './signature.ts'

const LINE_END = '\r\n'
/** A chunk's head is a length and a signature of 64 digits; S3 names no limit for it. */
const MAX_HEAD_BYTES = 256
/** A trailer is one checksum and one signature; S3 names no limit for it. */
const MAX_TRAILER_BYTES = 2048

/**
 * The bytes inside an aws-chunked body, as they arrive. Each chunk's signature is checked once
 * its last byte is through, so whoever writes them keeps them back until the end. The trailers
 * are in `trailers` by then. Throws IncompleteBody, SignatureDoesNotMatch, MalformedTrailerError.
 */
export async function* decodeChunked(
  source: AsyncIterable<Buffer>,
  options: { trailers: Map<string, string>; hasTrailer: boolean; signing?: ChunkSigning },
): AsyncGenerator<Buffer> {
  const reader = createReader(source, { ended: incomplete, tooLong: incomplete })
  const chain = options.signing && createChain(options.signing)
  try {
    for (;;) {
      const head = parseHead((await reader.until(LINE_END, MAX_HEAD_BYTES)).toString('latin1'))
      const hash = chain && createHash('sha256')
      for await (const piece of reader.take(head.size)) {
        hash?.update(piece)
        yield piece
      }
      await chain?.check('PAYLOAD', [EMPTY_SHA256, hash?.digest('hex') ?? ''], head.signature)
      if (head.size === 0) break
      if ((await reader.until(LINE_END, 0)).length > 0) throw incomplete()
    }
    if (!options.hasTrailer) return
    const lines: string[] = []
    for (;;) {
      const line = (await reader.until(LINE_END, MAX_TRAILER_BYTES)).toString('latin1').trim()
      if (line === '') break
      lines.push(line)
      if (lines.join().length > MAX_TRAILER_BYTES) throw malformedTrailer()
    }
    await readTrailers(lines, options.trailers, chain)
  } finally {
    await reader.release()
  }
}

const EMPTY_SHA256 = sha256('')
const SIGNATURE_TRAILER = 'x-amz-trailer-signature'

type Chain = ReturnType<typeof createChain>

/** Each signature covers the one before, so chunks can't be dropped, swapped or repeated. */
const createChain = ({ signer, date, seed }: ChunkSigning) => {
  let previous = seed
  return {
    check: async (kind: 'PAYLOAD' | 'TRAILER', hashes: string[], signature: string) => {
      const text = [`AWS4-HMAC-SHA256-${kind}`, date.text, signer.scope(date), previous, ...hashes]
      const expected = await signer.sign(text.join('\n'), date)
      if (!sameSignature(expected, signature)) throw mismatch()
      previous = expected
    },
  }
}

const parseHead = (line: string): { size: number; signature: string } => {
  const parts = /^([0-9a-f]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/i.exec(line)
  if (!parts) throw incomplete()
  return { size: Number.parseInt(parts[1] ?? '', 16), signature: parts[2] ?? '' }
}

const readTrailers = async (
  lines: string[],
  trailers: Map<string, string>,
  chain: Chain | undefined,
): Promise<void> => {
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) throw malformedTrailer()
    trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  const signature = trailers.get(SIGNATURE_TRAILER) ?? ''
  trailers.delete(SIGNATURE_TRAILER)
  const signed = [...trailers].map(([name, value]) => `${name}:${value}\n`).join('')
  await chain?.check('TRAILER', [sha256(signed)], signature)
}

const incomplete = (): S3Error =>
  new S3Error('IncompleteBody', 'The body is not as long, or not chunked, as its headers say.')

const malformedTrailer = (): S3Error =>
  new S3Error('MalformedTrailerError', 'The request contained trailing data not well-formed.')
