import { NoSuchKey, NotFound } from '@aws-sdk/client-s3'

export type Objects = Map<string, { body: Uint8Array; contentType: string }>

/** S3's commands, as far as the platform sends them, on a bucket in memory. */
export const s3 = {
  PutObjectCommand: (
    objects: Objects,
    { Key, Body, ContentType }: { Key: string; Body: string | Uint8Array; ContentType: string },
  ): object => {
    const body = typeof Body === 'string' ? new TextEncoder().encode(Body) : Body
    objects.set(Key, { body, contentType: ContentType })
    return {}
  },
  GetObjectCommand: (objects: Objects, { Key }: { Key: string }): object => {
    const found = objects.get(Key)
    if (!found) throw new NoSuchKey({ message: Key, $metadata: {} })
    return { Body: found.body }
  },
  HeadObjectCommand: (objects: Objects, { Key }: { Key: string }): object => {
    const found = objects.get(Key)
    if (!found) throw new NotFound({ message: Key, $metadata: {} })
    return { ContentType: found.contentType }
  },
  DeleteObjectCommand: (objects: Objects, { Key }: { Key: string }): object => {
    objects.delete(Key)
    return {}
  },
}
