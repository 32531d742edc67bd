import { S3Error } from './errors.ts'
import { type ByteReader, createReader } from './reader.ts'

/** All of a form before its file (S3 API reference, POST Object: 20 KB). */
export const MAX_FORM_BYTES = 20 * 1024

export type Form = {
  /** By lower-case name. */
  fields: Map<string, string>
  /** The file's name without folders; empty where the browser gave none. */
  fileName: string
  /** The file's bytes, unread; whatever comes behind them is not looked at. */
  file: AsyncGenerator<Buffer>
}

/**
 * Reads a multipart form up to its file, hands it to `use`, and lets go of the stream after.
 * S3 wants the file last, so that everything is known before its first byte.
 */
export const withForm = async <Result>(
  source: { contentType: string | undefined; chunks: AsyncIterable<Buffer> },
  use: (form: Form) => Promise<Result>,
): Promise<Result> => {
  const boundary = boundaryOf(source.contentType)
  const reader = createReader(source.chunks, { ended: malformed, tooLong })
  try {
    return await use(await readForm(reader, boundary))
  } finally {
    await reader.release()
  }
}

const readForm = async (reader: ByteReader, boundary: string): Promise<Form> => {
  const fields = new Map<string, string>()
  let left = MAX_FORM_BYTES
  const take = async (delimiter: string): Promise<string> => {
    const bytes = await reader.until(delimiter, left)
    left -= bytes.length + delimiter.length
    return decode(bytes)
  }
  await take(`--${boundary}`)
  for (;;) {
    // The boundary's line ends here, or says with two hyphens that the form does.
    if ((await take('\r\n')).trim() !== '') {
      throw new S3Error('InvalidArgument', 'POST requires exactly one file upload per request.')
    }
    const { name, fileName } = parseHead(await take('\r\n\r\n'))
    const end = `\r\n--${boundary}`
    if (name === 'file') return { fields, fileName, file: reader.before(end) }
    if (fields.has(name)) {
      throw new S3Error('InvalidArgument', `POST requires one value of the field ${name}.`)
    }
    fields.set(name, await take(end))
  }
}

const parseHead = (head: string): { name: string; fileName: string } => {
  const line = head.split('\r\n').find(text => /^content-disposition:/i.test(text)) ?? ''
  const name = /;\s*name="([^"]*)"/i.exec(line)?.[1]
  if (!name) throw malformed()
  const path = /;\s*filename="([^"]*)"/i.exec(line)?.[1] ?? ''
  return { name: name.toLowerCase(), fileName: path.split(/[\\/]/).at(-1) ?? '' }
}

const boundaryOf = (contentType: string | undefined): string => {
  const parts = /^multipart\/form-data\s*;.*?boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType ?? '',
  )
  const boundary = parts?.[1] ?? parts?.[2]
  if (boundary) return boundary
  throw new S3Error('MalformedPOSTRequest', 'The body must be multipart/form-data.')
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decode = (bytes: Buffer): string => {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new S3Error('MalformedPOSTRequest', 'The form is not UTF-8.', { cause })
  }
}

const malformed = (): S3Error =>
  new S3Error('MalformedPOSTRequest', 'The body is not well-formed multipart/form-data.')

const tooLong = (): S3Error =>
  new S3Error(
    'MaxPostPreDataLengthExceededError',
    `The fields before the file exceed ${MAX_FORM_BYTES} bytes.`,
  )
