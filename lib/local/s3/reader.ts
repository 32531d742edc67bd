import type { S3Error } from './errors.ts'

/** Reads framed bytes from a stream of pieces, holding no more than one frame's head. */
export type ByteReader = {
  /** The bytes before the delimiter, which is consumed; `tooLong` past `limit` bytes. */
  until: (delimiter: string, limit: number) => Promise<Buffer>
  /** The next `length` bytes, piece by piece. */
  take: (length: number) => AsyncGenerator<Buffer>
  /** All bytes before the delimiter, piece by piece; the delimiter is consumed. */
  before: (delimiter: string) => AsyncGenerator<Buffer>
  /** Lets go of the stream, so that what is left of it can be drained. */
  release: () => Promise<void>
}

/** A reader that throws what `ended` makes when the stream ends inside a frame. */
export const createReader = (
  source: AsyncIterable<Buffer>,
  fail: { ended: () => S3Error; tooLong: () => S3Error },
): ByteReader => {
  const iterator = source[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)

  const more = async (): Promise<void> => {
    const next = await iterator.next()
    if (next.done) throw fail.ended()
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value])
  }

  const cut = (length: number): Buffer => {
    const piece = held.subarray(0, length)
    held = held.subarray(piece.length)
    return piece
  }

  return {
    until: async (delimiter, limit) => {
      for (;;) {
        const found = held.indexOf(delimiter)
        if (found > limit || (found < 0 && held.length > limit + delimiter.length)) {
          throw fail.tooLong()
        }
        if (found >= 0) {
          const piece = cut(found)
          cut(delimiter.length)
          return piece
        }
        await more()
      }
    },
    async *take(length) {
      let left = length
      while (left > 0) {
        if (held.length === 0) await more()
        const piece = cut(left)
        left -= piece.length
        yield piece
      }
    },
    async *before(delimiter) {
      for (;;) {
        const found = held.indexOf(delimiter)
        if (found >= 0) {
          if (found > 0) yield cut(found)
          cut(delimiter.length)
          return
        }
        // The last bytes may be the first of a delimiter that the next piece completes.
        const safe = held.length - delimiter.length + 1
        if (safe > 0) yield cut(safe)
        await more()
      }
    },
    release: async () => {
      await iterator.return?.()
    },
  }
}
