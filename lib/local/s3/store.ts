import { createHash, randomUUID } from 'node:crypto'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { errorFields, log } from '../../core/log.ts'
import { type Catalog, createCatalog, type Summary } from './catalog.ts'
import { CorsRule } from './cors-rule.ts'
import { S3Error } from './errors.ts'
import { type Draft, infoOf, type ObjectInfo } from './object-file.ts'

const BucketFile = z.object({
  createdAt: z.iso.datetime(),
  corsRules: z.array(CorsRule).optional(),
})
type BucketFile = z.infer<typeof BucketFile>

export type Bucket = BucketFile & { name: string; directory: string; catalog: Catalog }

/**
 * What is on disk, below the server's folder:
 *
 *     buckets/<name>/bucket.json           when it was made, and its CORS rules
 *     buckets/<name>/objects/<hash>        one file an object, named by its key's SHA-256, so
 *                                          that no key is ever part of a path
 *     buckets/<name>/uploads/<id>/…        multipart uploads that are not complete
 *     drafts/                              what is still being written, or being thrown away
 *
 * Everything is made in `drafts` and renamed into place, and `drafts` is emptied on start.
 */
export type Store = { drafts: string; directory: string; buckets: Map<string, Bucket> }

export const openStore = async (directory: string): Promise<Store> => {
  const store: Store = {
    drafts: join(directory, 'drafts'),
    directory: join(directory, 'buckets'),
    buckets: new Map(),
  }
  await rm(store.drafts, { recursive: true, force: true })
  await mkdir(store.drafts, { recursive: true })
  await mkdir(store.directory, { recursive: true })
  for (const entry of await readdir(store.directory, { withFileTypes: true })) {
    if (entry.isDirectory()) store.buckets.set(entry.name, await loadBucket(store, entry.name))
  }
  return store
}

export const bucketOf = (store: Store, name: string): Bucket => {
  const bucket = store.buckets.get(name)
  if (bucket) return bucket
  throw noSuchBucket()
}

/** Makes a bucket, or throws BucketAlreadyOwnedByYou. */
export const createBucket = async (store: Store, name: string, createdAt: string) => {
  const draft = draftPath(store)
  await mkdir(join(draft, 'objects'), { recursive: true })
  await mkdir(join(draft, 'uploads'))
  await writeFile(join(draft, BUCKET_FILE), JSON.stringify({ createdAt } satisfies BucketFile))
  if (store.buckets.has(name)) {
    await rm(draft, { recursive: true })
    throw new S3Error('BucketAlreadyOwnedByYou', 'You already own the bucket you named.')
  }
  const directory = join(store.directory, name)
  renameSync(draft, directory)
  store.buckets.set(name, { name, directory, createdAt, catalog: createCatalog([]) })
}

/** Removes an empty bucket, with uploads that were never completed. */
export const deleteBucket = async (store: Store, bucket: Bucket) => {
  if (bucket.catalog.keys.length > 0) {
    throw new S3Error('BucketNotEmpty', 'The bucket you tried to delete is not empty.')
  }
  store.buckets.delete(bucket.name)
  await discard(store, bucket.directory)
}

export const setCorsRules = async (store: Store, bucket: Bucket, corsRules: CorsRule[]) => {
  const draft = draftPath(store)
  const file: BucketFile = { createdAt: bucket.createdAt, corsRules }
  await writeFile(draft, JSON.stringify(file))
  await rename(draft, join(bucket.directory, BUCKET_FILE))
  bucket.corsRules = corsRules
}

/** Throws where the object that is there now may not be replaced or removed. */
export type Condition = (current: Summary | undefined) => void

/**
 * Puts a sealed draft in its object's place if `condition` lets it. Nothing in here waits, so
 * of two conditional puts that race, the second sees what the first has done.
 */
export const placeObject = (
  store: Store,
  bucket: Bucket,
  object: { draft: Draft; info: ObjectInfo; condition: Condition },
): void => {
  const { draft, info, condition } = object
  if (store.buckets.get(bucket.name) !== bucket) throw noSuchBucket()
  condition(bucket.catalog.get(info.key))
  renameSync(draft.path, objectPath(bucket, info.key))
  bucket.catalog.set(info.key, summaryOf(info))
}

/** Removes an object if it is there and `condition` lets it; nothing in here waits either. */
export const deleteObject = (bucket: Bucket, key: string, condition: Condition): void => {
  const current = bucket.catalog.get(key)
  condition(current)
  if (!current) return
  rmSync(objectPath(bucket, key))
  bucket.catalog.delete(key)
}

export const objectPath = (bucket: Bucket, key: string): string =>
  join(bucket.directory, 'objects', createHash('sha256').update(key).digest('hex'))

export const draftPath = (store: Store): string => join(store.drafts, randomUUID())

/** Takes a folder out of sight at once, and off the disk after that. */
export const discard = async (store: Store, directory: string): Promise<void> => {
  const draft = draftPath(store)
  if (existsSync(directory)) renameSync(directory, draft)
  await rm(draft, { recursive: true, force: true })
}

const BUCKET_FILE = 'bucket.json'
/** How many files are opened at once on start. */
const LOAD_CONCURRENCY = 32

const noSuchBucket = (): S3Error =>
  new S3Error('NoSuchBucket', 'The specified bucket does not exist.')

const summaryOf = ({ size, etag, lastModifiedAt }: ObjectInfo): Summary => ({
  size,
  etag,
  lastModifiedAt,
})

const loadBucket = async (store: Store, name: string): Promise<Bucket> => {
  const directory = join(store.directory, name)
  const text = await readFile(join(directory, BUCKET_FILE), 'utf8')
  const file = BucketFile.parse(JSON.parse(text))
  const names = (await readdir(join(directory, 'objects'))).values()
  const entries: [string, Summary][] = []
  const work = async (): Promise<void> => {
    for (const object of names) {
      const info = await loadInfo(join(directory, 'objects', object))
      if (info) entries.push([info.key, summaryOf(info)])
    }
  }
  await Promise.all(Array.from({ length: LOAD_CONCURRENCY }, work))
  return { name, directory, ...file, catalog: createCatalog(entries) }
}

/** A file that isn't ours is left where it is and said to be unreadable, not taken for data. */
const loadInfo = async (path: string): Promise<ObjectInfo | undefined> => {
  try {
    return await infoOf(path)
  } catch (error) {
    log('warn', 's3-object-unreadable', { path, ...errorFields(error) })
    return undefined
  }
}
