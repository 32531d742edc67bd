import * as s3 from '../aws/s3.ts'
import { isAnswer } from '../aws/service-error.ts'
import { config } from '../core/config.ts'
import { AppError } from '../core/errors.ts'

// What is in the bucket: `media/<principal>/<asset>`, the bytes of media; `results/<call>`, long
// results; `large/<record>`, fields too long for an item. The first segment is what a role is
// limited by.

/** Writes an object whole; writing the same key again replaces it. */
export const putObject = async (
  key: string,
  body: Uint8Array | string,
  contentType: string,
): Promise<void> => {
  await s3.putObject({
    Bucket: config('bucket'),
    Key: key,
    Body: body,
    ContentType: contentType,
  })
}

/** What kind of object there is, or undefined where there is none. */
export const headObject = async (key: string): Promise<{ contentType: string } | undefined> => {
  try {
    const { ContentType = 'application/octet-stream' } = await s3.headObject({
      Bucket: config('bucket'),
      Key: key,
    })
    return { contentType: ContentType }
  } catch (error) {
    if (isAnswer(error, 'NotFound')) return undefined
    throw error
  }
}

/** An object's bytes, or undefined where there is none. */
export const getObject = async (key: string): Promise<Uint8Array | undefined> => {
  try {
    return (await s3.getObject({ Bucket: config('bucket'), Key: key })).Body
  } catch (error) {
    if (isAnswer(error, 'NoSuchKey')) return undefined
    throw error
  }
}

/** The most keys of one request: DeleteObjects takes no more, and ListObjectsV2 gives no more. */
export const MAX_KEYS = 1_000

/** Removes objects, whether or not they are there. */
export const deleteObjects = async (keys: string[]): Promise<void> => {
  for (let from = 0; from < keys.length; from += MAX_KEYS) {
    const Keys = keys.slice(from, from + MAX_KEYS)
    const { Errors } = await s3.deleteObjects({ Bucket: config('bucket'), Keys })
    const [first] = Errors
    if (first)
      throw new AppError(
        'INTERNAL',
        `${Errors.length} objects could not be removed, the first of them ${first.Key}: ${first.Code}.`,
      )
  }
}

/** Removes every object whose key begins so, also those that nothing names any more. */
export const removeObjects = async (prefix: string): Promise<void> => {
  for (;;) {
    const { Keys, IsTruncated } = await s3.listObjects({
      Bucket: config('bucket'),
      Prefix: prefix,
      MaxKeys: MAX_KEYS,
    })
    await deleteObjects(Keys)
    if (!IsTruncated) return
  }
}
