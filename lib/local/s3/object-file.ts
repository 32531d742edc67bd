import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { ALGORITHMS, createDigests, type DigestName, type Digests } from './checksum.ts'

/**
 * One file holds an object's bytes and, behind them, what is known about it:
 *
 *     bytes · JSON · length of the JSON in 4 bytes · MARK
 *
 * so that a single rename puts both in place, and whoever has the file open keeps a whole object
 * while another takes its name.
 */
const MARK = Buffer.from('ESPALIER')
const TAIL_BYTES = 4 + MARK.length
/** Read at once from a file's end: more than most objects' JSON. */
const LIKELY_FOOTER_BYTES = 4096

export const ObjectInfo = z.object({
  key: z.string(),
  size: z.int(),
  /** In hex and without quotes; `-2` behind it where two parts were put together. */
  etag: z.string(),
  lastModifiedAt: z.iso.datetime(),
  /** Sent back as they came: content-type and its like. */
  headers: z.record(z.string(), z.string()),
  /** The user's, without `x-amz-meta-`. */
  metadata: z.record(z.string(), z.string()),
  /** The client's checksum, in base64. */
  checksum: z
    .object({
      algorithm: z.enum(ALGORITHMS),
      value: z.string(),
      type: z.enum(['FULL_OBJECT', 'COMPOSITE']),
    })
    .optional(),
})
export type ObjectInfo = z.infer<typeof ObjectInfo>

/** A file that nobody sees yet: its bytes are written, its info is not. */
export type Draft = {
  path: string
  size: number
  digests: Digests
  /** Writes the info behind the bytes; the file can then be renamed into place. */
  seal: (info: ObjectInfo) => Promise<void>
}

/**
 * Streams bytes into a file in `directory` and hands it to `use`, which seals and renames it.
 * The file is gone if anything throws. There is no fsync: a killed process loses nothing that
 * was written, and a power cut may cost a developer's machine its last seconds.
 */
export const withDraft = async <Result>(
  source: { directory: string; chunks: AsyncIterable<Buffer>; digests: Iterable<DigestName> },
  use: (draft: Draft) => Promise<Result>,
): Promise<Result> => {
  const path = join(source.directory, randomUUID())
  const handle = await open(path, 'wx')
  try {
    const digests = createDigests(source.digests)
    let size = 0
    const pass = async function* () {
      for await (const chunk of source.chunks) {
        digests.update(chunk)
        size += chunk.length
        yield chunk
      }
    }
    await handle.writeFile(pass())
    const seal = async (info: ObjectInfo): Promise<void> => {
      await handle.writeFile(footerOf(info))
      await handle.close()
    }
    return await use({ path, size, digests: digests.digest(), seal })
  } catch (error) {
    await handle.close()
    await rm(path, { force: true })
    throw error
  }
}

export type OpenObject = { handle: FileHandle; info: ObjectInfo }

/** Opens an object; whoever does closes the handle. */
export const openObject = async (path: string): Promise<OpenObject> => {
  const handle = await open(path, 'r')
  try {
    return { handle, info: await readInfo(handle) }
  } catch (error) {
    await handle.close()
    throw error
  }
}

export const infoOf = async (path: string): Promise<ObjectInfo> => {
  const { handle, info } = await openObject(path)
  await handle.close()
  return info
}

/** An object's bytes, piece by piece, from a file that is closed at the end. */
export async function* bytesOf({ handle, info }: OpenObject): AsyncGenerator<Buffer> {
  if (info.size === 0) return await handle.close()
  yield* handle.createReadStream({ start: 0, end: info.size - 1 })
}

const footerOf = (info: ObjectInfo): Buffer => {
  const json = Buffer.from(JSON.stringify(info))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(json.length)
  return Buffer.concat([json, length, MARK])
}

const readInfo = async (handle: FileHandle): Promise<ObjectInfo> => {
  const { size } = await handle.stat()
  const end = await readEnd(handle, size, LIKELY_FOOTER_BYTES)
  if (end.length < TAIL_BYTES || !end.subarray(-MARK.length).equals(MARK)) throw unreadable()
  const footer = end.readUInt32BE(end.length - TAIL_BYTES) + TAIL_BYTES
  const whole = footer > end.length ? await readEnd(handle, size, footer) : end
  const json = whole.subarray(whole.length - footer, whole.length - TAIL_BYTES)
  const info = ObjectInfo.parse(JSON.parse(json.toString('utf8')))
  if (info.size + footer !== size) throw unreadable()
  return info
}

const readEnd = async (handle: FileHandle, size: number, wanted: number): Promise<Buffer> => {
  const length = Math.min(size, wanted)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length)
  return buffer.subarray(0, bytesRead)
}

const unreadable = (): Error => new Error('This file is not an object that was written whole.')
