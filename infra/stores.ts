import { INDEXES, PRIMARY_KEY, TTL_ATTRIBUTE } from '../lib/data/definition.ts'
import { KEPT_VERSION_DAYS, stageOf, UNFINISHED_UPLOAD_DAYS } from '../lib/deploy/stage.ts'

export type Stores = { data: sst.aws.Dynamo; objects: sst.aws.Bucket }

/** The table and the bucket; `origin` is where pages come from that may fetch files. */
export const makeStores = (origin: $util.Input<string>): Stores => ({
  data: makeTable(),
  objects: makeBucket(origin),
})

const makeTable = () => {
  const { isProduction } = stageOf($app)
  const keys = [PRIMARY_KEY, ...Object.values(INDEXES)].flatMap(key => Object.values(key))
  return new sst.aws.Dynamo('Data', {
    fields: Object.fromEntries(keys.map(key => [key, 'string'] as const)),
    primaryIndex: PRIMARY_KEY,
    globalIndexes: INDEXES,
    ttl: TTL_ATTRIBUTE,
    deletionProtection: isProduction,
    transform: {
      table: {
        pointInTimeRecovery: { enabled: isProduction },
        // Every table is encrypted; this says with the key that AWS owns, which costs nothing.
        serverSideEncryption: { enabled: false },
      },
    },
  })
}

const makeBucket = (origin: $util.Input<string>) => {
  const { isProduction } = stageOf($app)
  const objects = new sst.aws.Bucket('Objects', {
    versioning: isProduction,
    // A page of ours that fetches a file is redirected here. Nothing uploads to the bucket but functions.
    cors: {
      allowOrigins: [origin],
      allowMethods: ['GET', 'HEAD'],
      allowHeaders: ['range'],
      exposeHeaders: ['content-length', 'content-range', 'etag'],
      maxAge: '1 hour',
    },
    transform: { bucket: { forceDestroy: !isProduction } },
  })
  const bucket = objects.name
  new aws.s3.BucketServerSideEncryptionConfiguration('ObjectsEncryption', {
    bucket,
    rules: [{ applyServerSideEncryptionByDefault: { sseAlgorithm: 'AES256' } }],
  })
  // What tasks, calls and media still need never expires: it is deleted with them.
  new aws.s3.BucketLifecycleConfiguration('ObjectsLifecycle', {
    bucket,
    rules: [
      {
        id: 'unfinished-uploads',
        status: 'Enabled',
        filter: { prefix: '' },
        abortIncompleteMultipartUpload: { daysAfterInitiation: UNFINISHED_UPLOAD_DAYS },
      },
      ...(isProduction
        ? [
            {
              id: 'old-versions',
              status: 'Enabled',
              filter: { prefix: '' },
              noncurrentVersionExpiration: { noncurrentDays: KEPT_VERSION_DAYS },
              expiration: { expiredObjectDeleteMarker: true },
            },
          ]
        : []),
    ],
  })
  return objects
}
