import { type Body, openBody } from './body.ts'
import type { Digests } from './checksum.ts'
import { checkRead, etagMatches, writeCondition } from './conditions.ts'
import { isMissing, S3Error } from './errors.ts'
import type { Exchange, Handler } from './exchange.ts'
import {
  type Draft,
  type ObjectInfo,
  type OpenObject,
  openObject,
  withDraft,
} from './object-file.ts'
import { checksumHeaders, describe, headersOf } from './object-headers.ts'
import { type ByteRange, parseRange } from './range.ts'
import type { Reply, S3Request } from './request.ts'
import { type Bucket, bucketOf, deleteObject, objectPath, placeObject } from './store.ts'

export const putObject: Handler = async exchange => {
  const { request, store, now } = exchange
  const bucket = bucketOf(store, request.bucket)
  const description = describe(request.headers)
  const condition = writeCondition(request)
  const body = openBody(request, exchange.payload)
  const info = await storeBody(exchange, body, async draft => {
    const info: ObjectInfo = {
      key: request.key,
      lastModifiedAt: now.toISOString(),
      ...description,
      ...factsOf(draft, body),
    }
    await draft.seal(info)
    placeObject(store, bucket, { draft, info, condition })
    return info
  })
  return { status: 200, headers: { etag: `"${info.etag}"`, ...checksumHeaders(info) } }
}

/** Writes a body to a draft, checks it, and hands the draft to `use`. */
export const storeBody = <Result>(
  { store }: Exchange,
  body: Body,
  use: (draft: Draft) => Promise<Result>,
): Promise<Result> =>
  withDraft(
    { directory: store.drafts, chunks: body.chunks, digests: new Set([...body.digests, 'md5']) },
    async draft => {
      body.verify(draft.digests)
      return await use(draft)
    },
  )

/** What a draft's bytes say about their object. */
export const factsOf = (
  draft: { size: number; digests: Digests },
  { algorithm }: Pick<Body, 'algorithm'>,
): Pick<ObjectInfo, 'size' | 'etag' | 'checksum'> => {
  const value = algorithm && draft.digests.get(algorithm)?.toString('base64')
  return {
    size: draft.size,
    etag: draft.digests.get('md5')?.toString('hex') ?? '',
    ...(algorithm && value ? { checksum: { algorithm, value, type: 'FULL_OBJECT' } } : {}),
  }
}

export const getObject: Handler = async ({ request, store }) => {
  const object = await openKey(bucketOf(store, request.bucket), request.key)
  try {
    const { range, reply } = answer(request, object.info)
    const [start, end] = [range?.start ?? 0, range?.end ?? object.info.size - 1]
    if (end >= start) return { ...reply, body: object.handle.createReadStream({ start, end }) }
    await object.handle.close()
    return reply
  } catch (error) {
    await object.handle.close()
    throw error
  }
}

export const headObject: Handler = async ({ request, store }) => {
  const { handle, info } = await openKey(bucketOf(store, request.bucket), request.key)
  await handle.close()
  return answer(request, info).reply
}

const answer = (
  request: S3Request,
  info: ObjectInfo,
): { range: ByteRange | undefined; reply: Reply } => {
  checkRead(request, info)
  const range = isRangeMeant(request, info)
    ? parseRange(request.headers.get('range'), info.size)
    : undefined
  const length = range ? range.end - range.start + 1 : info.size
  const isAsked = request.headers.get('x-amz-checksum-mode')?.toUpperCase() === 'ENABLED'
  return {
    range,
    reply: {
      status: range ? 206 : 200,
      headers: {
        ...headersOf(info, request),
        ...(isAsked && !range ? checksumHeaders(info) : {}),
        ...(range ? { 'content-range': `bytes ${range.start}-${range.end}/${info.size}` } : {}),
        'content-length': String(length),
      },
    },
  }
}

/** A player that resumes says which object it has the start of: of another, it wants the whole. */
const isRangeMeant = (request: S3Request, info: ObjectInfo): boolean => {
  const ifRange = request.headers.get('if-range')
  if (ifRange === undefined) return true
  return etagMatches(ifRange, info.etag) || ifRange === new Date(info.lastModifiedAt).toUTCString()
}

/** Opens the object of a key, or throws NoSuchKey. */
export const openKey = async (bucket: Bucket, key: string): Promise<OpenObject> => {
  const missing = new S3Error('NoSuchKey', 'The specified key does not exist.')
  if (!bucket.catalog.get(key)) throw missing
  try {
    return await openObject(objectPath(bucket, key))
  } catch (error) {
    // Deleted since the catalog was asked.
    if (isMissing(error)) throw missing
    throw error
  }
}

export const removeObject: Handler = async ({ request, store }) => {
  deleteObject(bucketOf(store, request.bucket), request.key, writeCondition(request))
  return { status: 204 }
}
