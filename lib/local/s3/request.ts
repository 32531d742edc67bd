import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { S3Error } from './errors.ts'

/** The longest key, in bytes of UTF-8 (S3 user guide, "Naming Amazon S3 objects"). */
export const MAX_KEY_BYTES = 1024

export type S3Request = {
  method: string
  /** The path's text after percent-decoding, of which the signature is computed. */
  path: string
  /** Empty where the path names none. */
  bucket: string
  key: string
  query: URLSearchParams
  /** By lower-case name; a presigned URL's `x-amz-` parameters count as headers. */
  headers: Map<string, string>
  /** The body, read only once someone iterates, and left open for draining if they stop. */
  read: () => AsyncGenerator<Buffer>
}

export type Reply = {
  status: number
  headers?: Record<string, string>
  body?: string | Readable
}

/**
 * What a request asks for. The raw target is cut by hand, since `URL` would resolve `k/../x`,
 * which is a key like any other. Throws InvalidURI or KeyTooLongError.
 */
export const toRequest = (incoming: IncomingMessage, beforeRead: () => void): S3Request => {
  const [rawPath = '', ...rawQuery] = (incoming.url ?? '').split('?')
  const path = decodePath(rawPath)
  const end = path.indexOf('/', 1)
  const bucket = path.slice(1, end < 0 ? undefined : end)
  const key = end < 0 ? '' : path.slice(end + 1)
  return {
    method: incoming.method ?? 'GET',
    path,
    bucket,
    key: checkKey(key),
    query: new URLSearchParams(rawQuery.join('?')),
    headers: headersOf(incoming),
    read: async function* () {
      beforeRead()
      // Without `destroyOnReturn: false`, stopping early would cut the connection, and the
      // client would never see why it was refused.
      for await (const chunk of incoming.iterator({ destroyOnReturn: false })) yield chunk
    },
  }
}

export const checkKey = (key: string): string => {
  if (Buffer.byteLength(key) <= MAX_KEY_BYTES) return key
  throw new S3Error('KeyTooLongError', `Your key is longer than ${MAX_KEY_BYTES} bytes.`)
}

const decodePath = (raw: string): string => {
  if (!raw.startsWith('/')) throw new S3Error('InvalidURI', 'The path must start with a slash.')
  return decodeUri(raw)
}

/** Percent-decodes, or throws InvalidURI for what is not UTF-8. */
export const decodeUri = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new S3Error('InvalidURI', 'Could not parse the specified URI.', { cause })
  }
}

/**
 * Every header as sent, those that occur twice joined. Node's own view drops some duplicates:
 * then the signature could be computed of one value and the request carried out with another.
 */
const headersOf = (incoming: IncomingMessage): Map<string, string> => {
  const headers = new Map<string, string>()
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    if (values) headers.set(name, values.join(','))
  }
  return headers
}

/** A whole number from a header or parameter, or InvalidArgument naming it. */
export const wholeNumber = (name: string, text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new S3Error('InvalidArgument', `${name} must be a whole number.`)
}
