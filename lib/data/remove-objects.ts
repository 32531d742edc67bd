import * as s3 from '../aws/s3.ts'
import { config } from '../core/config.ts'
import { AppError } from '../core/errors.ts'

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
