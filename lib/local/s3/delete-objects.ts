import { readText } from './body.ts'
import { etagMatches } from './conditions.ts'
import { S3Error } from './errors.ts'
import type { Handler } from './exchange.ts'
import { type Bucket, bucketOf, deleteObject } from './store.ts'
import { childrenOf, parseXml, renderXml, textOf, type XmlElement, type XmlNode } from './xml.ts'

/** The most keys of one request (S3 API reference, DeleteObjects: 1,000). */
export const MAX_DELETE_KEYS = 1000
/** The longest request document: a thousand of the longest keys, escaped at their worst. */
const MAX_DELETE_BYTES = 8 * 1024 ** 2

export const deleteObjects: Handler = async ({ request, payload, store }) => {
  const bucket = bucketOf(store, request.bucket)
  const isChecked = [...request.headers.keys()].some(
    name =>
      name === 'content-md5' || name.startsWith('x-amz-checksum-') || name === 'x-amz-trailer',
  )
  if (!isChecked) {
    throw new S3Error('InvalidRequest', 'Missing required header: Content-MD5 or a checksum.')
  }
  const document = parseXml(await readText(request, payload, { limit: MAX_DELETE_BYTES }))
  const objects = childrenOf(document, 'Object')
  if (document.name !== 'Delete' || objects.length < 1 || objects.length > MAX_DELETE_KEYS) {
    throw new S3Error('MalformedXML', `A Delete holds from 1 to ${MAX_DELETE_KEYS} objects.`)
  }
  const isQuiet = textOf(document, 'Quiet') === 'true'
  const results = objects.map(object => deleteOne(bucket, object))
  const shown = isQuiet ? results.filter(([name]) => name === 'Error') : results
  return { status: 200, body: renderXml('DeleteResult', shown) }
}

/** One key that can't be deleted is said so in the answer, and keeps no other from it. */
const deleteOne = (bucket: Bucket, object: XmlElement): XmlNode => {
  const key = textOf(object, 'Key') ?? ''
  const etag = textOf(object, 'ETag')
  try {
    if (textOf(object, 'VersionId')) {
      throw new S3Error('NotImplemented', 'Versions are not implemented.')
    }
    deleteObject(bucket, key, current => {
      if (etag === undefined || (current && etagMatches(etag, current.etag))) return
      throw new S3Error('PreconditionFailed', 'The ETag is not that of the object.')
    })
    return ['Deleted', [['Key', key]]]
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    const { code, message } = error
    return ['Error', Object.entries({ Key: key, Code: code, Message: message })]
  }
}
