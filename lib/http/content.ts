import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context } from 'hono'

/** Bytes that are the same for everyone who asks, ready to be sent. */
export type Content = { type: string; bytes: Buffer; compressed: Buffer | undefined; etag: string }

/** What is compressed already gains nothing. */
const TEXT = /^(text\/|application\/json)/

/** Content with its tag, which is weak: it stands for both of its encodings. */
export const contentOf = async (type: string, bytes: Buffer): Promise<Content> => ({
  type,
  bytes,
  compressed: TEXT.test(type) ? await promisify(gzip)(bytes) : undefined,
  etag: `W/"${createHash('sha256').update(bytes).digest('base64url')}"`,
})

/**
 * Sends content, or 304 to who has it. Whoever keeps it asks each time whether it is still the
 * same: it changes with every deploy, and its address doesn't.
 */
export const sendContent = (context: Context, content: Content): Response => {
  const { type, bytes, compressed, etag } = content
  context.header('etag', etag)
  context.header('cache-control', 'public, no-cache')
  context.header('vary', 'accept-encoding')
  context.header('x-content-type-options', 'nosniff')
  if (isKnown(context.req.header('if-none-match'), etag)) return context.body(null, 304)
  context.header('content-type', type)
  if (!compressed || !takesGzip(context.req.header('accept-encoding')))
    return context.body(new Uint8Array(bytes))
  context.header('content-encoding', 'gzip')
  return context.body(new Uint8Array(compressed))
}

/** RFC 9110, 13.1.2: a list of tags, compared weakly, or `*`. */
const isKnown = (header: string | undefined, etag: string): boolean => {
  if (header === undefined) return false
  const tags = header.split(',').map(tag => tag.trim())
  return tags.includes('*') || tags.some(tag => opaque(tag) === opaque(etag))
}

const opaque = (tag: string): string => tag.replace(/^W\//, '')

/** RFC 9110, 12.5.3: a weight of 0 refuses. */
const takesGzip = (header = ''): boolean =>
  header
    .split(',')
    .some(coding => /^\s*gzip\s*(;|$)/i.test(coding) && !/;\s*q=0(\.0*)?\s*$/i.test(coding))
