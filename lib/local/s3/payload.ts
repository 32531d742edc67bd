import { S3Error } from './errors.ts'
import type { Signer, SigningDate } from './signature.ts'

export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD'

/** What the chunks of a signed stream are checked with; each chunk's signature seeds the next. */
export type ChunkSigning = { signer: Signer; date: SigningDate; seed: string }

/** How a body was signed (S3 API reference, the values of `x-amz-content-sha256`). */
export type Payload =
  | { kind: 'unsigned' }
  | { kind: 'hashed'; sha256: Buffer }
  | { kind: 'chunked'; hasTrailer: boolean; signing?: ChunkSigning }

/** Reads `x-amz-content-sha256`, or throws InvalidArgument. */
export const toPayload = (value: string, signing: ChunkSigning): Payload => {
  if (value === UNSIGNED_PAYLOAD) return { kind: 'unsigned' }
  if (value === 'STREAMING-UNSIGNED-PAYLOAD-TRAILER') return { kind: 'chunked', hasTrailer: true }
  if (value === 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD') {
    return { kind: 'chunked', hasTrailer: false, signing }
  }
  if (value === 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER') {
    return { kind: 'chunked', hasTrailer: true, signing }
  }
  if (/^[0-9a-f]{64}$/.test(value)) return { kind: 'hashed', sha256: Buffer.from(value, 'hex') }
  throw new S3Error(
    'InvalidArgument',
    `x-amz-content-sha256 must be ${UNSIGNED_PAYLOAD}, a known STREAMING- value or a SHA-256.`,
  )
}
