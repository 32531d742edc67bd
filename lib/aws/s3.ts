import { S3Client } from '@aws-sdk/client-s3'

let client: S3Client | undefined

/**
 * The S3 client. Checksums only where S3 demands them: a presigned upload would otherwise sign
 * the checksum of an empty body. An endpoint of one's own is addressed by path.
 */
export const s3 = (): S3Client => {
  client ??= new S3Client({
    requestChecksumCalculation: 'WHEN_REQUIRED',
    forcePathStyle: Boolean(process.env.AWS_ENDPOINT_URL_S3),
  })
  return client
}
