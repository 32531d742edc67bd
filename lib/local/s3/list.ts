import * as z from 'zod'
import { type Catalog, compareUtf8, firstIndex } from './catalog.ts'
import { S3Error } from './errors.ts'
import type { Handler } from './exchange.ts'
import { type S3Request, wholeNumber } from './request.ts'
import { bucketOf } from './store.ts'
import { renderXml, type XmlNode } from './xml.ts'

/** The most entries of one page (S3 API reference, ListObjectsV2: 1,000). */
export const MAX_LIST_ENTRIES = 1000

/** Where a page ends: behind a key, or behind all keys that one common prefix stands for. */
const Mark = z.strictObject({ after: z.string(), isPrefix: z.boolean() })
type Mark = z.infer<typeof Mark>

/** An entry of a page: an object, or the common prefix of those below it. */
type Entry = Mark

export const listObjects: Handler = async ({ request, store }) => {
  const { catalog } = bucketOf(store, request.bucket)
  const parameter = (name: string) => request.query.get(name) ?? ''
  const encode = encoderOf(request)
  const [prefix, delimiter, startAfter] = [
    parameter('prefix'),
    parameter('delimiter'),
    parameter('start-after'),
  ]
  const token = request.query.get('continuation-token')
  const start = token === null ? { after: startAfter, isPrefix: false } : decodeToken(token)
  const limit = limitOf(request, 'max-keys', MAX_LIST_ENTRIES)
  const { entries, isTruncated } = pageOf(catalog, { prefix, delimiter, start, limit })
  const last = entries.at(-1)
  return {
    status: 200,
    body: renderXml('ListBucketResult', [
      ['Name', request.bucket],
      ['Prefix', encode(prefix)],
      ...(delimiter ? [['Delimiter', encode(delimiter)] satisfies XmlNode] : []),
      ...(startAfter ? [['StartAfter', encode(startAfter)] satisfies XmlNode] : []),
      ...(token === null ? [] : [['ContinuationToken', token] satisfies XmlNode]),
      ...(request.query.has('encoding-type') ? [['EncodingType', 'url'] satisfies XmlNode] : []),
      ['KeyCount', entries.length],
      ['MaxKeys', limit],
      ['IsTruncated', isTruncated],
      ...(isTruncated && last
        ? [['NextContinuationToken', encodeToken(last)] satisfies XmlNode]
        : []),
      ...entries.map(entry => entryNode(entry, catalog, encode)),
    ]),
  }
}

/** The entries of one page in UTF-8 order, and whether any are left. */
const pageOf = (
  { keys }: Catalog,
  query: { prefix: string; delimiter: string; start: Mark; limit: number },
): { entries: Entry[]; isTruncated: boolean } => {
  const { prefix, delimiter, start, limit } = query
  const entries: Entry[] = []
  let index = firstIndex(keys, key => compareUtf8(key, prefix) >= 0 && isBehind(key, start))
  for (;;) {
    const key = keys[index]
    if (key === undefined || !key.startsWith(prefix)) return { entries, isTruncated: false }
    // S3 calls a page of no entries complete.
    if (entries.length === limit) return { entries, isTruncated: limit > 0 }
    const cut = delimiter ? key.indexOf(delimiter, prefix.length) : -1
    const entry: Entry =
      cut < 0
        ? { after: key, isPrefix: false }
        : { after: key.slice(0, cut + delimiter.length), isPrefix: true }
    entries.push(entry)
    index = entry.isPrefix ? firstIndex(keys, other => isBehind(other, entry)) : index + 1
  }
}

/** Whether a key comes behind a mark; keys below a common prefix come before all that do. */
const isBehind = (key: string, { after, isPrefix }: Mark): boolean =>
  compareUtf8(key, after) > 0 && !(isPrefix && key.startsWith(after))

const entryNode = (entry: Entry, catalog: Catalog, encode: (text: string) => string): XmlNode => {
  if (entry.isPrefix) return ['CommonPrefixes', [['Prefix', encode(entry.after)]]]
  const summary = catalog.get(entry.after)
  return [
    'Contents',
    [
      ['Key', encode(entry.after)],
      ['LastModified', summary?.lastModifiedAt ?? ''],
      ['ETag', `"${summary?.etag ?? ''}"`],
      ['Size', summary?.size ?? 0],
      ['StorageClass', 'STANDARD'],
    ],
  ]
}

/** A limit from the query: at most, and by default, `maximum`. */
export const limitOf = (request: S3Request, name: string, maximum: number): number => {
  const text = request.query.get(name)
  return text ? Math.min(wholeNumber(name, text), maximum) : maximum
}

const encoderOf = (request: S3Request): ((text: string) => string) => {
  const type = request.query.get('encoding-type')
  if (type === null) return text => text
  if (type === 'url') return text => encodeURIComponent(text).replaceAll('%2F', '/')
  throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified in Request.')
}

const encodeToken = (mark: Mark): string => Buffer.from(JSON.stringify(mark)).toString('base64url')

const decodeToken = (token: string): Mark => {
  try {
    return Mark.parse(JSON.parse(Buffer.from(token, 'base64url').toString('utf8')))
  } catch (cause) {
    throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect.', { cause })
  }
}
