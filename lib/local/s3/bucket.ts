import { S3Error } from './errors.ts'
import type { Handler } from './exchange.ts'
import { bucketOf, createBucket, deleteBucket } from './store.ts'
import { renderXml } from './xml.ts'

/** Where S3 answers a second creation by the same owner as if it were the first. */
const FORGIVING_REGION = 'us-east-1'

export const listBuckets: Handler = async ({ store, signer }) => {
  const buckets = [...store.buckets.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  return {
    status: 200,
    body: renderXml('ListAllMyBucketsResult', [
      [
        'Owner',
        [
          ['ID', signer.accessKeyId],
          ['DisplayName', signer.accessKeyId],
        ],
      ],
      [
        'Buckets',
        buckets.map(bucket => [
          'Bucket',
          [
            ['Name', bucket.name],
            ['CreationDate', bucket.createdAt],
          ],
        ]),
      ],
    ]),
  }
}

export const putBucket: Handler = async ({ request, store, signer, now }) => {
  checkName(request.bucket)
  if (!(store.buckets.has(request.bucket) && signer.region === FORGIVING_REGION)) {
    await createBucket(store, request.bucket, now.toISOString())
  }
  return { status: 200, headers: { location: `/${request.bucket}` } }
}

export const headBucket: Handler = async ({ request, store, signer }) => {
  bucketOf(store, request.bucket)
  return { status: 200, headers: { 'x-amz-bucket-region': signer.region } }
}

export const removeBucket: Handler = async ({ request, store }) => {
  await deleteBucket(store, bucketOf(store, request.bucket))
  return { status: 204 }
}

/**
 * 3 to 63 lower-case letters, digits, hyphens and single dots (S3 user guide, "Bucket naming
 * rules"). A bucket's name is a folder's name, so nothing else may get through.
 */
const checkName = (name: string): void => {
  const isValid =
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name) &&
    !name.includes('..') &&
    !/^\d+\.\d+\.\d+\.\d+$/.test(name)
  if (!isValid) throw new S3Error('InvalidBucketName', 'The specified bucket is not valid.')
}
