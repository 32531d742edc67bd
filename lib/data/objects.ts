import * as s3 from '../aws/s3.ts'
import { isAnswer } from '../aws/service-error.ts'
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
