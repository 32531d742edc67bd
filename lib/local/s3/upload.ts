import { randomBytes } from 'node:crypto'
import { existsSync, renameSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { ALGORITHMS } from './checksum.ts'
import { isMissing, S3Error } from './errors.ts'
import { type Draft, infoOf, ObjectInfo } from './object-file.ts'
import { type Bucket, discard, draftPath, type Store } from './store.ts'

/** What a multipart upload was begun with, and its object will have. */
const UploadFile = ObjectInfo.pick({ key: true, headers: true, metadata: true }).extend({
  initiatedAt: z.iso.datetime(),
  algorithm: z.enum(ALGORITHMS).optional(),
  checksumType: z.enum(['FULL_OBJECT', 'COMPOSITE']),
})
type UploadFile = z.infer<typeof UploadFile>

/** An upload under way: a folder that holds its description and one file a part. */
export type Upload = UploadFile & { id: string; directory: string }
export type Part = { number: number; path: string; info: ObjectInfo }

const UPLOAD_FILE = 'upload.json'
const PART_DIGITS = 5

/** Begins an upload and returns its id. */
export const createUpload = async (
  store: Store,
  bucket: Bucket,
  file: UploadFile,
): Promise<string> => {
  const id = randomBytes(16).toString('hex')
  const draft = draftPath(store)
  await mkdir(draft)
  await writeFile(join(draft, UPLOAD_FILE), JSON.stringify(file))
  renameSync(draft, join(bucket.directory, 'uploads', id))
  return id
}

/** The upload of this id, if it is one of this key; else NoSuchUpload. */
export const openUpload = async (bucket: Bucket, key: string, id: string): Promise<Upload> => {
  // An id becomes part of a path, so nothing but what `createUpload` makes is looked up.
  if (!/^[0-9a-f]{32}$/.test(id)) throw noSuchUpload()
  const directory = join(bucket.directory, 'uploads', id)
  try {
    const text = await readFile(join(directory, UPLOAD_FILE), 'utf8')
    const file = UploadFile.parse(JSON.parse(text))
    if (file.key === key) return { ...file, id, directory }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  throw noSuchUpload()
}

/** Puts a sealed draft in a part's place, or throws NoSuchUpload if the upload has ended. */
export const placePart = (upload: Upload, number: number, draft: Draft): void => {
  checkOpen(upload)
  renameSync(draft.path, join(upload.directory, String(number).padStart(PART_DIGITS, '0')))
}

/** The parts that are there, by number. */
export const partsOf = async (upload: Upload): Promise<Part[]> => {
  try {
    const names = (await readdir(upload.directory)).filter(name => name !== UPLOAD_FILE).sort()
    const parts: Part[] = []
    for (const name of names) {
      const path = join(upload.directory, name)
      parts.push({ number: Number(name), path, info: await infoOf(path) })
    }
    return parts
  } catch (error) {
    if (isMissing(error)) throw noSuchUpload()
    throw error
  }
}

/** Ends an upload, whether or not its object came to be. */
export const endUpload = (store: Store, upload: Upload): Promise<void> =>
  discard(store, upload.directory)

/** Throws NoSuchUpload if the upload has been completed or aborted meanwhile. */
export const checkOpen = (upload: Upload): void => {
  if (!existsSync(upload.directory)) throw noSuchUpload()
}

const noSuchUpload = (): S3Error =>
  new S3Error(
    'NoSuchUpload',
    'The specified upload does not exist. It may have been aborted or completed.',
  )
