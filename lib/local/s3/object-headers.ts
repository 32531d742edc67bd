import { validateHeaderValue } from 'node:http'
import { S3Error } from './errors.ts'
import type { ObjectInfo } from './object-file.ts'
import type { S3Request } from './request.ts'

/** User metadata in bytes, names and values together (S3 user guide, "Object metadata": 2 KB). */
export const MAX_METADATA_BYTES = 2048

const METADATA_PREFIX = 'x-amz-meta-'
const DEFAULT_CONTENT_TYPE = 'binary/octet-stream'

/** Kept with an object and sent back with it, where a `response-` parameter may replace them. */
const KEPT = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'expires',
] as const

/** Headers that promise what this server doesn't do; refused, so that nobody relies on them. */
const REFUSED = [
  'x-amz-tagging',
  'x-amz-object-lock-mode',
  'x-amz-object-lock-retain-until-date',
  'x-amz-object-lock-legal-hold',
  'x-amz-server-side-encryption-customer-algorithm',
  'x-amz-website-redirect-location',
  'x-amz-write-offset-bytes',
]

export type Description = Pick<ObjectInfo, 'headers' | 'metadata'>

/** What a put says about its object, besides its bytes. */
export const describe = (headers: ReadonlyMap<string, string>): Description => {
  const refused = REFUSED.find(name => headers.has(name))
  if (refused) throw new S3Error('NotImplemented', `The header ${refused} is not implemented.`)
  const kept = KEPT.flatMap(name => {
    const value = name === 'content-encoding' ? encodingOf(headers) : headers.get(name)
    return value ? [[name, value] as const] : []
  })
  const metadata = [...headers].flatMap(([name, value]) =>
    name.startsWith(METADATA_PREFIX) ? [[name.slice(METADATA_PREFIX.length), value] as const] : [],
  )
  for (const [name, value] of [...kept, ...metadata]) checkValue(name, value)
  const size = metadata.reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0)
  if (size > MAX_METADATA_BYTES) {
    throw new S3Error('MetadataTooLarge', `Your metadata exceeds ${MAX_METADATA_BYTES} bytes.`)
  }
  return {
    headers: { 'content-type': DEFAULT_CONTENT_TYPE, ...Object.fromEntries(kept) },
    metadata: Object.fromEntries(metadata),
  }
}

/** The headers of an object's answer, apart from those about its length. */
export const headersOf = (info: ObjectInfo, request: S3Request): Record<string, string> => {
  const overrides = KEPT.flatMap(name => {
    const value = request.query.get(`response-${name}`)
    if (value === null) return []
    checkValue(`response-${name}`, value)
    return [[name, value] as const]
  })
  const metadata = Object.entries(info.metadata).map(
    ([name, value]) => [METADATA_PREFIX + name, value] as const,
  )
  return {
    'accept-ranges': 'bytes',
    etag: `"${info.etag}"`,
    'last-modified': new Date(info.lastModifiedAt).toUTCString(),
    ...info.headers,
    ...Object.fromEntries(overrides),
    ...Object.fromEntries(metadata),
  }
}

/** A stored checksum as headers; only for those who ask, and only with the whole object. */
export const checksumHeaders = (info: Pick<ObjectInfo, 'checksum'>): Record<string, string> =>
  info.checksum
    ? {
        [`x-amz-checksum-${info.checksum.algorithm}`]: info.checksum.value,
        'x-amz-checksum-type': info.checksum.type,
      }
    : {}

/** `aws-chunked` is how the body came, not what it is. */
const encodingOf = (headers: ReadonlyMap<string, string>): string =>
  (headers.get('content-encoding') ?? '')
    .split(',')
    .map(encoding => encoding.trim())
    .filter(encoding => encoding !== 'aws-chunked')
    .join(',')

const checkValue = (name: string, value: string): void => {
  try {
    validateHeaderValue(name, value)
  } catch (cause) {
    throw new S3Error('InvalidArgument', `The value of ${name} can't be sent in a header.`, {
      cause,
    })
  }
}
