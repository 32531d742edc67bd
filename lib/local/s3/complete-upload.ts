import { readText } from './body.ts'
import { ALGORITHMS, checkDigests, checksumIn, decodeDigest, digestOf } from './checksum.ts'
import { writeCondition } from './conditions.ts'
import { checksumNode } from './copy-object.ts'
import { S3Error } from './errors.ts'
import type { Exchange, Handler } from './exchange.ts'
import { uploadIdOf } from './multipart.ts'
import { bytesOf, type Draft, type ObjectInfo, openObject, withDraft } from './object-file.ts'
import { bucketOf, placeObject } from './store.ts'
import { checkOpen, endUpload, openUpload, type Part, partsOf, type Upload } from './upload.ts'
import { childrenOf, parseXml, renderXml, textOf, type XmlElement, type XmlNode } from './xml.ts'

/** The least bytes of any part but the last (S3 user guide, "Multipart upload limits": 5 MiB). */
export const MIN_PART_BYTES = 5 * 1024 ** 2
/** The longest request document: 10,000 parts with an ETag and a checksum each. */
const MAX_COMPLETE_BYTES = 4 * 1024 ** 2

export const completeMultipartUpload: Handler = async exchange => {
  const { request, payload, store } = exchange
  const bucket = bucketOf(store, request.bucket)
  const upload = await openUpload(bucket, request.key, uploadIdOf(request))
  const condition = writeCondition(request)
  // A checksum in this request's headers is that of the object, not of the document.
  const options = { limit: MAX_COMPLETE_BYTES, hasChecksum: false }
  const document = parseXml(await readText(request, payload, options))
  if (document.name !== 'CompleteMultipartUpload') {
    throw new S3Error('MalformedXML', 'The document must be a CompleteMultipartUpload.')
  }
  const parts = choose(childrenOf(document, 'Part'), await partsOf(upload))
  const info = await join(exchange, { upload, parts }, async (draft, info) => {
    await draft.seal(info)
    // From here to the folder's renaming nothing waits, so an upload ends once.
    checkOpen(upload)
    placeObject(store, bucket, { draft, info, condition })
    await endUpload(store, upload)
  })
  return {
    status: 200,
    body: renderXml('CompleteMultipartUploadResult', [
      ['Location', `/${request.bucket}/${request.key}`],
      ['Bucket', request.bucket],
      ['Key', request.key],
      ['ETag', `"${info.etag}"`],
      ...(info.checksum ? checksumNodes(info.checksum) : []),
    ]),
  }
}

const checksumNodes = (checksum: NonNullable<ObjectInfo['checksum']>): XmlNode[] => [
  checksumNode(checksum),
  ['ChecksumType', checksum.type],
]

/** The parts that a client names, of those that are there; throws where they don't agree. */
const choose = (elements: XmlElement[], parts: Part[]): Part[] => {
  if (elements.length === 0) throw new S3Error('MalformedXML', 'You must specify a part.')
  const numbers = elements.map(element => Number(textOf(element, 'PartNumber')))
  if (numbers.some((number, index) => !(number > (numbers[index - 1] ?? 0)))) {
    throw new S3Error('InvalidPartOrder', 'The parts must be in ascending order.')
  }
  const byNumber = new Map(parts.map(part => [part.number, part]))
  return elements.map((element, index) => {
    const number = numbers[index] ?? 0
    const part = byNumber.get(number)
    if (!part || !isMeant(element, part)) {
      throw new S3Error('InvalidPart', `Part ${number} was not uploaded, or is another.`)
    }
    if (part.info.size < MIN_PART_BYTES && index < elements.length - 1) {
      throw new S3Error('EntityTooSmall', `Part ${number} is less than ${MIN_PART_BYTES} bytes.`)
    }
    return part
  })
}

const isMeant = (element: XmlElement, { info }: Part): boolean => {
  const etag = textOf(element, 'ETag')?.replaceAll('"', '')
  if (etag !== info.etag) return false
  return ALGORITHMS.every(algorithm => {
    const value = textOf(element, `Checksum${algorithm.toUpperCase()}`)
    return value === undefined || info.checksum?.algorithm !== algorithm
      ? true
      : info.checksum.value === value
  })
}

/** Streams the parts into one draft, and hands it to `use` with what is to be known of it. */
const join = async (
  { request, store, now }: Exchange,
  source: { upload: Upload; parts: Part[] },
  use: (draft: Draft, info: ObjectInfo) => Promise<void>,
): Promise<ObjectInfo> => {
  const { upload, parts } = source
  const isWhole = upload.algorithm && upload.checksumType === 'FULL_OBJECT'
  const digests = isWhole && upload.algorithm ? [upload.algorithm] : []
  const chunks = bytesOfParts(parts)
  return withDraft({ directory: store.drafts, chunks, digests }, async draft => {
    const whole = upload.algorithm && draft.digests.get(upload.algorithm)
    const said = checksumIn(request.headers)
    if (said && whole && said.algorithm === upload.algorithm) {
      const value = decodeDigest(said.algorithm, said.text)
      checkDigests(draft.digests, [{ name: said.algorithm, value, code: 'BadDigest' }])
    }
    const md5s = parts.map(part => Buffer.from(part.info.etag, 'hex'))
    const value = whole ? whole.toString('base64') : compositeOf(upload, parts)
    const info: ObjectInfo = {
      key: upload.key,
      size: draft.size,
      etag: `${digestOf('md5', Buffer.concat(md5s)).toString('hex')}-${parts.length}`,
      lastModifiedAt: now.toISOString(),
      headers: upload.headers,
      metadata: upload.metadata,
      ...(upload.algorithm && value
        ? { checksum: { algorithm: upload.algorithm, value, type: upload.checksumType } }
        : {}),
    }
    await use(draft, info)
    return info
  })
}

/** The checksum of the parts' checksums, with their number behind it. */
const compositeOf = ({ algorithm }: Upload, parts: Part[]): string | undefined => {
  if (!algorithm) return undefined
  const values = parts.map(({ info }) => Buffer.from(info.checksum?.value ?? '', 'base64'))
  return `${digestOf(algorithm, Buffer.concat(values)).toString('base64')}-${parts.length}`
}

async function* bytesOfParts(parts: Part[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    const object = await openObject(part.path)
    if (object.info.etag === part.info.etag) {
      yield* bytesOf(object)
      continue
    }
    await object.handle.close()
    throw new S3Error('InvalidPart', `Part ${part.number} was replaced meanwhile.`)
  }
}
