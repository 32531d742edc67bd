import { type Algorithm, algorithmNamed, type DigestName } from './checksum.ts'
import { checkCopySource, writeCondition } from './conditions.ts'
import { S3Error } from './errors.ts'
import type { Handler } from './exchange.ts'
import { factsOf, openKey } from './object.ts'
import { bytesOf, type ObjectInfo, withDraft } from './object-file.ts'
import { describe } from './object-headers.ts'
import { decodeUri, type S3Request } from './request.ts'
import { bucketOf, placeObject } from './store.ts'
import { renderXml, type XmlNode } from './xml.ts'

export const copyObject: Handler = async ({ request, store, now }) => {
  const bucket = bucketOf(store, request.bucket)
  const source = sourceOf(request)
  const isReplaced = replaces(request)
  if (!isReplaced && source.bucket === request.bucket && source.key === request.key) {
    throw new S3Error('InvalidRequest', 'A copy of an object onto itself must change something.')
  }
  const description = describe(request.headers)
  const condition = writeCondition(request)
  const original = await openKey(bucketOf(store, source.bucket), source.key)
  try {
    checkCopySource(request, original.info)
    const algorithm = algorithmOf(request) ?? original.info.checksum?.algorithm
    const digests: DigestName[] = algorithm ? ['md5', algorithm] : ['md5']
    const chunks = bytesOf(original)
    const info = await withDraft({ directory: store.drafts, chunks, digests }, async draft => {
      const info: ObjectInfo = {
        key: request.key,
        lastModifiedAt: now.toISOString(),
        headers: (isReplaced ? description : original.info).headers,
        metadata: (isReplaced ? description : original.info).metadata,
        ...factsOf(draft, { algorithm }),
      }
      await draft.seal(info)
      placeObject(store, bucket, { draft, info, condition })
      return info
    })
    return { status: 200, body: renderXml('CopyObjectResult', resultOf(info)) }
  } finally {
    await original.handle.close()
  }
}

const resultOf = (info: ObjectInfo): XmlNode[] => [
  ['ETag', `"${info.etag}"`],
  ['LastModified', info.lastModifiedAt],
  ...(info.checksum ? [checksumNode(info.checksum)] : []),
]

/** A checksum as the API's documents name it, `ChecksumCRC32` for one. */
export const checksumNode = (checksum: { algorithm: string; value: string }): XmlNode => [
  `Checksum${checksum.algorithm.toUpperCase()}`,
  checksum.value,
]

const sourceOf = (request: S3Request): { bucket: string; key: string } => {
  const header = request.headers.get('x-amz-copy-source') ?? ''
  if (/\?versionId=/.test(header)) {
    throw new S3Error('NotImplemented', 'Versions are not implemented.')
  }
  const path = decodeUri(header).replace(/^\//, '')
  const slash = path.indexOf('/')
  if (slash > 0 && slash < path.length - 1) {
    return { bucket: path.slice(0, slash), key: path.slice(slash + 1) }
  }
  throw new S3Error('InvalidArgument', 'x-amz-copy-source must be a bucket and a key.')
}

const replaces = (request: S3Request): boolean => {
  const directive = request.headers.get('x-amz-metadata-directive') ?? 'COPY'
  if (directive === 'COPY' || directive === 'REPLACE') return directive === 'REPLACE'
  throw new S3Error('InvalidArgument', 'x-amz-metadata-directive must be COPY or REPLACE.')
}

/** The algorithm that `x-amz-checksum-algorithm` names, or InvalidRequest. */
export const algorithmOf = (request: S3Request): Algorithm | undefined => {
  const name = request.headers.get('x-amz-checksum-algorithm')
  if (name === undefined) return undefined
  const algorithm = algorithmNamed(name)
  if (algorithm) return algorithm
  throw new S3Error('InvalidRequest', `The checksum algorithm ${name} is not supported.`)
}
