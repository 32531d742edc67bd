import { openBody } from './body.ts'
import { algorithmOf, checksumNode } from './copy-object.ts'
import { S3Error } from './errors.ts'
import type { Handler } from './exchange.ts'
import { limitOf } from './list.ts'
import { factsOf, storeBody } from './object.ts'
import type { ObjectInfo } from './object-file.ts'
import { checksumHeaders, describe } from './object-headers.ts'
import { type S3Request, wholeNumber } from './request.ts'
import { bucketOf } from './store.ts'
import { createUpload, endUpload, openUpload, partsOf, placePart } from './upload.ts'
import { renderXml, type XmlNode } from './xml.ts'

/** The highest part number (S3 user guide, "Multipart upload limits": 10,000). */
export const MAX_PART_NUMBER = 10_000
/** The most parts of one page (S3 API reference, ListParts: 1,000). */
const MAX_LIST_PARTS = 1000

export const createMultipartUpload: Handler = async ({ request, store, now }) => {
  const bucket = bucketOf(store, request.bucket)
  const algorithm = algorithmOf(request)
  const checksumType = checksumTypeOf(request, algorithm)
  const id = await createUpload(store, bucket, {
    key: request.key,
    ...describe(request.headers),
    initiatedAt: now.toISOString(),
    checksumType,
    ...(algorithm ? { algorithm } : {}),
  })
  return {
    status: 200,
    headers: algorithm
      ? {
          'x-amz-checksum-algorithm': algorithm.toUpperCase(),
          'x-amz-checksum-type': checksumType,
        }
      : {},
    body: renderXml('InitiateMultipartUploadResult', [
      ['Bucket', request.bucket],
      ['Key', request.key],
      ['UploadId', id],
    ]),
  }
}

export const uploadPart: Handler = async exchange => {
  const { request, store, now } = exchange
  if (request.headers.has('x-amz-copy-source')) {
    throw new S3Error('NotImplemented', 'UploadPartCopy is not implemented.')
  }
  const number = wholeNumber('partNumber', request.query.get('partNumber') ?? '')
  if (number < 1 || number > MAX_PART_NUMBER) {
    throw new S3Error('InvalidArgument', `partNumber must be from 1 to ${MAX_PART_NUMBER}.`)
  }
  const upload = await openUpload(bucketOf(store, request.bucket), request.key, uploadIdOf(request))
  const body = openBody(request, exchange.payload)
  // A part without a checksum of its own gets the one that its upload is to have.
  const algorithm = upload.algorithm ?? body.algorithm
  if (algorithm) body.digests.add(algorithm)
  const info = await storeBody(exchange, body, async draft => {
    const info: ObjectInfo = {
      key: request.key,
      lastModifiedAt: now.toISOString(),
      headers: {},
      metadata: {},
      ...factsOf(draft, { algorithm }),
    }
    await draft.seal(info)
    placePart(upload, number, draft)
    return info
  })
  const { 'x-amz-checksum-type': _, ...checksum } = checksumHeaders(info)
  return { status: 200, headers: { etag: `"${info.etag}"`, ...checksum } }
}

export const abortMultipartUpload: Handler = async ({ request, store }) => {
  const bucket = bucketOf(store, request.bucket)
  await endUpload(store, await openUpload(bucket, request.key, uploadIdOf(request)))
  return { status: 204 }
}

export const listParts: Handler = async ({ request, store }) => {
  const bucket = bucketOf(store, request.bucket)
  const upload = await openUpload(bucket, request.key, uploadIdOf(request))
  const marker = wholeNumber('part-number-marker', request.query.get('part-number-marker') ?? '0')
  const limit = limitOf(request, 'max-parts', MAX_LIST_PARTS)
  const left = (await partsOf(upload)).filter(part => part.number > marker)
  const parts = left.slice(0, limit)
  return {
    status: 200,
    body: renderXml('ListPartsResult', [
      ['Bucket', request.bucket],
      ['Key', request.key],
      ['UploadId', upload.id],
      ['PartNumberMarker', marker],
      ['NextPartNumberMarker', parts.at(-1)?.number ?? marker],
      ['MaxParts', limit],
      ['IsTruncated', limit > 0 && left.length > parts.length],
      ...parts.map(
        ({ number, info }): XmlNode => [
          'Part',
          [
            ['PartNumber', number],
            ['LastModified', info.lastModifiedAt],
            ['ETag', `"${info.etag}"`],
            ['Size', info.size],
            ...(info.checksum ? [checksumNode(info.checksum)] : []),
          ],
        ],
      ),
    ]),
  }
}

export const uploadIdOf = (request: S3Request): string => request.query.get('uploadId') ?? ''

/** CRC-64 is only of the whole, SHA only of the parts, the others of either. */
const checksumTypeOf = (request: S3Request, algorithm: string | undefined) => {
  const [usual, other] =
    algorithm === 'crc64nvme'
      ? (['FULL_OBJECT', undefined] as const)
      : (['COMPOSITE', algorithm?.startsWith('sha') ? undefined : 'FULL_OBJECT'] as const)
  const type = request.headers.get('x-amz-checksum-type') ?? usual
  if (type === usual) return usual
  if (other && type === other) return other
  throw new S3Error('InvalidRequest', `The checksum type ${type} does not go with ${algorithm}.`)
}
