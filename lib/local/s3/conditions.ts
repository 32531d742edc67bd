import { S3Error } from './errors.ts'
import type { ObjectInfo } from './object-file.ts'
import type { S3Request } from './request.ts'
import type { Condition } from './store.ts'

/** What `If-Match` and `If-None-Match` say about the object that a put would replace. */
export const writeCondition = (request: S3Request): Condition => {
  const ifMatch = request.headers.get('if-match')
  const ifNoneMatch = request.headers.get('if-none-match')
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') {
    throw new S3Error('NotImplemented', 'If-None-Match on a write takes only "*".')
  }
  return current => {
    if (ifNoneMatch && current) throw failed('If-None-Match')
    if (ifMatch === undefined) return
    if (!current) throw new S3Error('NoSuchKey', 'The specified key does not exist.')
    if (!etagMatches(ifMatch, current.etag)) throw failed('If-Match')
  }
}

/** Throws NotModified or PreconditionFailed as a read's headers ask (RFC 9110, section 13.2). */
export const checkRead = (request: S3Request, info: ObjectInfo): void => {
  const header = (name: string) => request.headers.get(name)
  const ifMatch = header('if-match')
  const ifNoneMatch = header('if-none-match')
  if (ifMatch !== undefined && !etagMatches(ifMatch, info.etag)) throw failed('If-Match')
  if (ifMatch === undefined && isAfter(info, header('if-unmodified-since'))) {
    throw failed('If-Unmodified-Since')
  }
  if (ifNoneMatch !== undefined && etagMatches(ifNoneMatch, info.etag)) throw notModified(info)
  if (ifNoneMatch !== undefined) return
  if (isAfter(info, header('if-modified-since')) === false) throw notModified(info)
}

/** The same for the source of a copy, where every failure is a 412. */
export const checkCopySource = (request: S3Request, info: ObjectInfo): void => {
  const header = (name: string) => request.headers.get(`x-amz-copy-source-${name}`)
  const ifMatch = header('if-match')
  const ifNoneMatch = header('if-none-match')
  const failures = [
    ifMatch !== undefined && !etagMatches(ifMatch, info.etag),
    ifNoneMatch !== undefined && etagMatches(ifNoneMatch, info.etag),
    ifMatch === undefined && isAfter(info, header('if-unmodified-since')),
    ifNoneMatch === undefined && isAfter(info, header('if-modified-since')) === false,
  ]
  if (failures.includes(true)) throw failed('x-amz-copy-source-if')
}

export const etagMatches = (header: string, etag: string): boolean =>
  header
    .split(',')
    .map(candidate => candidate.trim().replace(/^W\//, '').replaceAll('"', ''))
    .some(candidate => candidate === '*' || candidate === etag)

/** Whether the object changed after an HTTP date, by the second; undefined without a date. */
const isAfter = (info: ObjectInfo, date: string | undefined): boolean | undefined => {
  const time = Date.parse(date ?? '')
  if (Number.isNaN(time)) return undefined
  return Math.floor(Date.parse(info.lastModifiedAt) / 1000) > Math.floor(time / 1000)
}

const failed = (condition: string): S3Error =>
  new S3Error('PreconditionFailed', `At least one precondition did not hold: ${condition}.`)

const notModified = (info: ObjectInfo): S3Error =>
  new S3Error('NotModified', 'Not Modified', {
    headers: {
      etag: `"${info.etag}"`,
      'last-modified': new Date(info.lastModifiedAt).toUTCString(),
    },
  })
