import * as z from 'zod'
import { all, one, statementsOf } from '../synth/find.ts'
import type { Synthesis } from '../synth/synthesis.ts'
import { compareLists, differs } from './differs.ts'

// The table and the bucket, as they are to be whatever lib/data/definition.ts says: a changed key is a
// new table, and so a loss of all that is in it.

const INDEX_NAMES = ['gsi1', 'gsi2', 'gsi3']

const Table = z.object({
  hashKey: z.string(),
  rangeKey: z.string(),
  billingMode: z.string(),
  attributes: z.array(z.object({ name: z.string(), type: z.string() })),
  globalSecondaryIndexes: z.array(
    z.object({
      name: z.string(),
      hashKey: z.string(),
      rangeKey: z.string(),
      projectionType: z.string(),
    }),
  ),
  localSecondaryIndexes: z.array(z.unknown()),
  ttl: z.object({ attributeName: z.string(), enabled: z.boolean() }),
  pointInTimeRecovery: z.object({ enabled: z.boolean() }).optional(),
  deletionProtectionEnabled: z.boolean().optional(),
})

export const tableProblems = (
  synthesis: Synthesis,
  { isProduction, recovers }: { isProduction: boolean; recovers: boolean },
): string[] => {
  const table = Table.parse(one(synthesis, 'aws:dynamodb/table:Table').inputs)
  const keys = ['pk', 'sk', ...INDEX_NAMES.flatMap(name => [`${name}pk`, `${name}sk`])]
  return [
    ...differs('The table’s key', [table.hashKey, table.rangeKey], ['pk', 'sk']),
    ...differs(
      'The list of indexes',
      table.globalSecondaryIndexes,
      INDEX_NAMES.map(name => ({
        name,
        hashKey: `${name}pk`,
        rangeKey: `${name}sk`,
        projectionType: 'ALL',
      })),
    ),
    ...differs('The list of local indexes', table.localSecondaryIndexes, []),
    ...compareLists(
      'The key attribute',
      table.attributes.map(({ name, type }) => `${name} ${type}`),
      keys.map(key => `${key} S`),
    ),
    ...differs('The table’s TTL', table.ttl, { attributeName: 'ttl', enabled: true }),
    ...differs('How the table is billed', table.billingMode, 'PAY_PER_REQUEST'),
    ...differs('Point-in-time recovery', table.pointInTimeRecovery?.enabled ?? false, recovers),
    ...differs(
      'The table’s protection from deletion',
      table.deletionProtectionEnabled ?? false,
      isProduction,
    ),
  ]
}

/** Who can't be let in by an ACL or a policy: https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html */
const BLOCKS = ['blockPublicAcls', 'blockPublicPolicy', 'ignorePublicAcls', 'restrictPublicBuckets']

/**
 * S3 itself encrypts every object with a key of its own, and lets nobody switch that off: what could
 * be wrong is an encryption that is none of ours. https://docs.aws.amazon.com/AmazonS3/latest/userguide/default-encryption-faq.html
 */
export const bucketProblems = (synthesis: Synthesis): string[] => {
  const bucket = one(synthesis, 'aws:s3/bucket:Bucket')
  const blocks = one(synthesis, 'aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock').inputs
  const policy = one(synthesis, 'aws:s3/bucketPolicy:BucketPolicy').inputs
  const arn = String(bucket.state.arn)
  return [
    ...differs('Whose access is blocked', blocks.bucket, bucket.id),
    ...BLOCKS.flatMap(block => differs(`The bucket’s ${block}`, blocks[block], true)),
    ...differs('The bucket that has a policy', policy.bucket, bucket.id),
    ...differs('The bucket’s policy', statementsOf(policy.policy), [
      {
        Effect: 'Deny',
        Action: ['s3:*'],
        Resource: [arn, `${arn}/*`],
        Principal: { '*': ['*'] },
        Condition: { Bool: { 'aws:SecureTransport': ['false'] } },
      },
    ]),
    ...['acl', 'grants', 'website', 'serverSideEncryptionConfiguration']
      .filter(key => bucket.inputs[key] !== undefined)
      .map(key => `The bucket has ${key}`),
    ...[
      'bucketAclV2:BucketAclV2',
      'bucketAcl:BucketAcl',
      'bucketWebsiteConfiguration:BucketWebsiteConfiguration',
    ]
      .flatMap(type => all(synthesis, `aws:s3/${type}`))
      .map(({ type }) => `The bucket has a ${type}`),
  ]
}
