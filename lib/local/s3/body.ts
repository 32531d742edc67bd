import {
  type Algorithm,
  algorithmNamed,
  checkDigests,
  checksumIn,
  createDigests,
  type DigestName,
  type Digests,
  decodeDigest,
  type Expectation,
} from './checksum.ts'
import { decodeChunked } from './chunked.ts'
import { S3Error } from './errors.ts'
import type { Payload } from './payload.ts'
import { type S3Request, wholeNumber } from './request.ts'

/** The longest object of a single put, and the longest part (S3 user guide, "Quotas": 5 GiB). */
export const MAX_PUT_BYTES = 5 * 1024 ** 3

export type Body = {
  chunks: AsyncIterable<Buffer>
  /** What must be computed while the chunks pass. */
  digests: Set<DigestName>
  /** The algorithm of the checksum that the client sends along, to be kept with the object. */
  algorithm: Algorithm | undefined
  /** Once all chunks have passed: throws where the body is not what its headers say. */
  verify: (digests: Digests) => void
}

/** A request's body, unread. Throws for a length that is missing or more than `limit`. */
export const openBody = (
  request: S3Request,
  payload: Payload,
  options: { limit: number; hasChecksum?: boolean } = { limit: MAX_PUT_BYTES },
): Body => {
  const length = lengthOf(request, payload)
  if (length > options.limit) {
    throw new S3Error('EntityTooLarge', `Your upload exceeds ${options.limit} bytes.`)
  }
  const expectations: Expectation[] = []
  const md5 = request.headers.get('content-md5')
  if (md5 !== undefined) {
    expectations.push({ name: 'md5', value: decodeDigest('md5', md5), code: 'BadDigest' })
  }
  if (payload.kind === 'hashed') {
    const code = 'XAmzContentSHA256Mismatch'
    expectations.push({ name: 'sha256', value: payload.sha256, code })
  }
  const checksum = options.hasChecksum === false ? undefined : checksumIn(request.headers)
  if (checksum) expectations.push(checksumExpectation(checksum))

  const trailers = new Map<string, string>()
  const announced =
    payload.kind === 'chunked' && payload.hasTrailer ? announcedBy(request.headers) : undefined
  const algorithm = announced ?? checksum?.algorithm
  const source =
    payload.kind === 'chunked'
      ? decodeChunked(request.read(), { ...payload, trailers })
      : request.read()

  return {
    chunks: exactly(source, length),
    digests: new Set([
      ...expectations.map(expectation => expectation.name),
      ...(announced ? [announced] : []),
    ]),
    algorithm,
    verify: digests => {
      checkDigests(digests, expectations)
      if (!announced) return
      const trailing = checksumIn(trailers)
      if (trailing?.algorithm !== announced) {
        throw new S3Error('MalformedTrailerError', `The trailer lacks its ${announced} checksum.`)
      }
      checkDigests(digests, [checksumExpectation(trailing)])
    },
  }
}

/** A request's body as text, for the short documents of the API. */
export const readText = async (
  request: S3Request,
  payload: Payload,
  options: { limit: number; hasChecksum?: boolean },
): Promise<string> => {
  const body = openBody(request, payload, options)
  const digests = createDigests(body.digests)
  const chunks: Buffer[] = []
  for await (const chunk of body.chunks) {
    digests.update(chunk)
    chunks.push(chunk)
  }
  body.verify(digests.digest())
  return Buffer.concat(chunks).toString('utf8')
}

const checksumExpectation = (checksum: { algorithm: Algorithm; text: string }): Expectation => ({
  name: checksum.algorithm,
  value: decodeDigest(checksum.algorithm, checksum.text),
  code: 'BadDigest',
})

const announcedBy = (headers: ReadonlyMap<string, string>): Algorithm | undefined => {
  const name = headers.get('x-amz-trailer')?.trim().toLowerCase()
  if (name === undefined) return undefined
  const algorithm = algorithmNamed(name.replace(/^x-amz-checksum-/, ''))
  if (algorithm) return algorithm
  throw new S3Error('InvalidRequest', `The trailer ${name} is not supported.`)
}

const lengthOf = (request: S3Request, payload: Payload): number => {
  const name = payload.kind === 'chunked' ? 'x-amz-decoded-content-length' : 'content-length'
  const text = request.headers.get(name)
  if (text !== undefined) return wholeNumber(name, text)
  // Only a put must say how long its body is, even if it has none.
  const isEmpty = request.method !== 'PUT' && !request.headers.has('transfer-encoding')
  if (payload.kind !== 'chunked' && isEmpty) return 0
  throw new S3Error('MissingContentLength', `You must provide the ${name} HTTP header.`)
}

/** Passes the chunks on, or throws IncompleteBody where they are not `length` bytes. */
async function* exactly(source: AsyncIterable<Buffer>, length: number): AsyncGenerator<Buffer> {
  let left = length
  for await (const chunk of source) {
    left -= chunk.length
    if (left < 0) break
    yield chunk
  }
  if (left === 0) return
  throw new S3Error('IncompleteBody', 'The body is not as long as its headers say.')
}
