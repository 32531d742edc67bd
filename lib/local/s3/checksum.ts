import { createHash } from 'node:crypto'
import { createCrc32, createCrc32c, createCrc64Nvme } from './crc.ts'
import { S3Error } from './errors.ts'

/** The checksums that a client may send; a header reads `x-amz-checksum-<algorithm>`. */
export const ALGORITHMS = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'] as const
export type Algorithm = (typeof ALGORITHMS)[number]

/** What is computed over a body while it passes: a client's checksum, or the MD5 of an ETag. */
export type DigestName = Algorithm | 'md5'
export type Digests = ReadonlyMap<DigestName, Buffer>

/** What a client said the body is, and what it is refused with if it isn't. */
export type Expectation = {
  name: DigestName
  value: Buffer
  code: 'BadDigest' | 'XAmzContentSHA256Mismatch'
}

const LENGTH: Record<DigestName, number> = {
  crc32: 4,
  crc32c: 4,
  crc64nvme: 8,
  sha1: 20,
  sha256: 32,
  md5: 16,
}

/** Several digests over one stream, each computed once. */
export const createDigests = (names: Iterable<DigestName>) => {
  const hashes = new Map([...new Set(names)].map(name => [name, createDigest(name)] as const))
  return {
    update: (chunk: Uint8Array): void => {
      for (const hash of hashes.values()) hash.update(chunk)
    },
    digest: (): Digests => new Map([...hashes].map(([name, hash]) => [name, hash.digest()])),
  }
}

/** The digest of bytes at hand. */
export const digestOf = (name: DigestName, bytes: Uint8Array): Buffer => {
  const digest = createDigest(name)
  digest.update(bytes)
  return digest.digest()
}

const createDigest = (name: DigestName) => {
  if (name === 'crc32') return createCrc32()
  if (name === 'crc32c') return createCrc32c()
  if (name === 'crc64nvme') return createCrc64Nvme()
  return createHash(name)
}

/** The bytes of a base64 digest, or InvalidDigest if its length is another. */
export const decodeDigest = (name: DigestName, text: string): Buffer => {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === LENGTH[name] && bytes.toString('base64') === text) return bytes
  throw new S3Error(
    name === 'md5' ? 'InvalidDigest' : 'InvalidRequest',
    `The ${name} that you sent is not ${LENGTH[name]} bytes in base64.`,
  )
}

/** Throws the expectation's code where the body's digest is another. */
export const checkDigests = (digests: Digests, expectations: Expectation[]): void => {
  for (const { name, value, code } of expectations) {
    if (digests.get(name)?.equals(value)) continue
    throw new S3Error(code, `The ${name} you specified did not match the calculated checksum.`)
  }
}

/** The one checksum that headers hold, or undefined. Throws InvalidRequest where they hold two. */
export const checksumIn = (
  headers: ReadonlyMap<string, string>,
): { algorithm: Algorithm; text: string } | undefined => {
  const found = ALGORITHMS.flatMap(algorithm => {
    const text = headers.get(`x-amz-checksum-${algorithm}`)
    return text === undefined ? [] : [{ algorithm, text }]
  })
  if (found.length < 2) return found[0]
  throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header.')
}

/** An algorithm as `x-amz-checksum-algorithm` and `x-amz-trailer` name it, in either case. */
export const algorithmNamed = (name: string): Algorithm | undefined =>
  ALGORITHMS.find(algorithm => algorithm === name.toLowerCase())
