import {
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { s3 } from '../aws/s3.ts'
import { config } from '../core/config.ts'

// What is in the bucket: `media/<principal>/<asset>`, the bytes of media; `results/<call>`, long
// results; `large/<record>`, fields too long for an item. The first segment is what a role is
// limited by.

/** Writes an object whole; writing the same key again replaces it. */
export const putObject = async (
  key: string,
  body: Uint8Array | string,
  contentType: string,
): Promise<void> => {
  await s3().send(
    new PutObjectCommand({
      Bucket: config('bucket'),
      Key: key,
      Body: body,
      ContentType: contentType,
    }),
  )
}

/** What kind of object there is, or undefined where there is none. */
export const headObject = async (key: string): Promise<{ contentType: string } | undefined> => {
  try {
    const { ContentType = 'application/octet-stream' } = await s3().send(
      new HeadObjectCommand({ Bucket: config('bucket'), Key: key }),
    )
    return { contentType: ContentType }
  } catch (error) {
    if (error instanceof NotFound) return undefined
    throw error
  }
}

/** An object's bytes, or undefined where there is none. */
export const getObject = async (key: string): Promise<Uint8Array | undefined> => {
  try {
    const response = await s3().send(new GetObjectCommand({ Bucket: config('bucket'), Key: key }))
    return await response.Body?.transformToByteArray()
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined
    throw error
  }
}
