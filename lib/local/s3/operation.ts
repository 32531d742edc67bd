import * as bucket from './bucket.ts'
import { completeMultipartUpload } from './complete-upload.ts'
import { copyObject } from './copy-object.ts'
import * as cors from './cors.ts'
import { deleteObjects } from './delete-objects.ts'
import { S3Error } from './errors.ts'
import type { Handler } from './exchange.ts'
import { listObjects } from './list.ts'
import * as multipart from './multipart.ts'
import * as object from './object.ts'
import { postObject } from './post-object.ts'
import type { S3Request } from './request.ts'

/** Every operation by the name that AWS gives it, with what carries it out. */
export const OPERATIONS = {
  ListBuckets: bucket.listBuckets,
  CreateBucket: bucket.putBucket,
  HeadBucket: bucket.headBucket,
  DeleteBucket: bucket.removeBucket,
  GetBucketCors: cors.getBucketCors,
  PutBucketCors: cors.putBucketCors,
  DeleteBucketCors: cors.deleteBucketCors,
  ListObjectsV2: listObjects,
  DeleteObjects: deleteObjects,
  PostObject: postObject,
  PutObject: object.putObject,
  CopyObject: copyObject,
  GetObject: object.getObject,
  HeadObject: object.headObject,
  DeleteObject: object.removeObject,
  CreateMultipartUpload: multipart.createMultipartUpload,
  UploadPart: multipart.uploadPart,
  CompleteMultipartUpload: completeMultipartUpload,
  AbortMultipartUpload: multipart.abortMultipartUpload,
  ListParts: multipart.listParts,
} as const satisfies Record<string, Handler>

export type Operation = keyof typeof OPERATIONS

/** By method, by what the path names, and by the parameters that make another operation of it. */
const ROUTES: Readonly<Record<string, Operation>> = {
  'GET service': 'ListBuckets',
  'PUT bucket': 'CreateBucket',
  'HEAD bucket': 'HeadBucket',
  'DELETE bucket': 'DeleteBucket',
  'GET bucket cors': 'GetBucketCors',
  'PUT bucket cors': 'PutBucketCors',
  'DELETE bucket cors': 'DeleteBucketCors',
  'GET bucket list-type': 'ListObjectsV2',
  'POST bucket delete': 'DeleteObjects',
  'POST bucket': 'PostObject',
  'PUT object': 'PutObject',
  'GET object': 'GetObject',
  'HEAD object': 'HeadObject',
  'DELETE object': 'DeleteObject',
  'POST object uploads': 'CreateMultipartUpload',
  'PUT object partNumber uploadId': 'UploadPart',
  'POST object uploadId': 'CompleteMultipartUpload',
  'DELETE object uploadId': 'AbortMultipartUpload',
  'GET object uploadId': 'ListParts',
}

/** Parameters that only say how; all others say what, and are refused where they aren't known. */
const MODIFIERS = new Set([
  'prefix',
  'delimiter',
  'start-after',
  'continuation-token',
  'encoding-type',
  'fetch-owner',
  'max-keys',
  'max-parts',
  'part-number-marker',
  'max-buckets',
  'x-id',
])

/**
 * The operation that a request means, or undefined where it is none of ours. A parameter that
 * isn't known must not be passed over: `DELETE key?tagging` would delete the object.
 */
export const operationOf = (request: S3Request): Operation | undefined => {
  const selectors = [...new Set(request.query.keys())].filter(name => !isModifier(name)).sort()
  const route = [request.method, scopeOf(request), ...selectors].join(' ')
  const operation = Object.hasOwn(ROUTES, route) ? ROUTES[route] : undefined
  return operation === 'PutObject' && namesSource(request) ? 'CopyObject' : operation
}

export const notImplemented = (request: S3Request): S3Error =>
  new S3Error(
    'NotImplemented',
    `This server has no ${request.method} for a ${scopeOf(request)} with these parameters.`,
  )

/** A presigned URL may hold the header among its parameters. */
const namesSource = ({ headers, query }: S3Request): boolean =>
  [...headers.keys(), ...query.keys()].some(name => name.toLowerCase() === 'x-amz-copy-source')

const isModifier = (name: string): boolean =>
  MODIFIERS.has(name) || /^(x-amz|response)-/i.test(name)

const scopeOf = (request: S3Request): 'service' | 'bucket' | 'object' | 'nothing' => {
  if (request.path === '/') return 'service'
  if (request.bucket === '') return 'nothing'
  return request.key === '' ? 'bucket' : 'object'
}
