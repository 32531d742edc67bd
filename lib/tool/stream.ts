import { EventEmitter } from 'node:events'
import { AppError } from '../core/errors.ts'

/** The bytes that a value is, whichever of JavaScript's forms they have; undefined of all else. */
export const bytesOf = (value: object): Blob | undefined => {
  if (value instanceof Blob) return value
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)
    return new Blob([new Uint8Array(value as ArrayBuffer)])
  // What else an array is typed as says that its numbers are meant, not their bytes.
  if (value instanceof Uint8Array || value instanceof DataView)
    return new Blob([value as Uint8Array<ArrayBuffer>])
  return undefined
}

/** Whether a value comes in pieces over time: a web stream, one of Node's, an async generator. */
export const isStream = (value: object): value is AsyncIterable<unknown> =>
  Symbol.asyncIterator in value

/**
 * Whoever reads a stream is told of its failure, also of one before. Until somebody reads, an error
 * of one of Node's that nobody hears would end the process.
 */
export const hearFailure = (stream: object): void => {
  if (stream instanceof EventEmitter) stream.on('error', () => {})
}

/**
 * All that a stream brings: its texts as one, its bytes as one, or the list of its values where it
 * brings others as well. Throws PAYLOAD_TOO_LARGE past `maxSize` characters or bytes (or values),
 * and reads no further.
 */
export const readStream = async (
  stream: AsyncIterable<unknown>,
  maxSize: number,
): Promise<unknown> => {
  const chunks: unknown[] = []
  let size = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    size += sizeOf(chunk)
    if (size > maxSize)
      throw new AppError(
        'PAYLOAD_TOO_LARGE',
        `The result is a stream of more than ${maxSize} characters or bytes; ask for less, or for a part of it.`,
      )
  }
  if (chunks.every(chunk => typeof chunk === 'string')) return chunks.join('')
  if (chunks.every(chunk => chunk instanceof Uint8Array))
    return new Blob(chunks as Uint8Array<ArrayBuffer>[])
  return chunks
}

/** At least one: pieces without content would come without end. */
const sizeOf = (chunk: unknown): number => {
  if (typeof chunk === 'string') return chunk.length || 1
  return chunk instanceof Uint8Array ? chunk.byteLength || 1 : 1
}

/** Types whose bytes are text, by what stands before the parameters. */
const TEXT_TYPE =
  /^(text\/|application\/(javascript|xml|yaml|x-www-form-urlencoded)$)|\+(xml|yaml)$/
const JSON_TYPE = /^application\/json$|\+json$/

/**
 * The body of an answer that a tool passes on as it is: JSON as a value, text as a text, else a
 * Blob of its type. An answer that tells of a failure becomes `{status, body}`.
 */
export const readResponse = async (response: Response, maxSize: number): Promise<unknown> => {
  const body = await readBody(response, maxSize)
  return response.ok ? body : { status: response.status, body }
}

const readBody = async (response: Response, maxSize: number): Promise<unknown> => {
  const read = response.body ? await readStream(response.body, maxSize) : ''
  if (!(read instanceof Blob)) return read
  const type =
    (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (JSON_TYPE.test(type)) return parsed(await read.text())
  return TEXT_TYPE.test(type) ? read.text() : new Blob([read], { type })
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
