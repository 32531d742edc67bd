import { AppError } from '../../core/errors.ts'
import { decodeText } from './charset.ts'
import type { PageText } from './html.ts'
import { type DocumentKind, kindOf, parseMediaType, sniffKind } from './media-type.ts'

const MEBIBYTE = 1_024 ** 2
/** How large a document of each kind may be, in bytes. */
export const MAX_PDF_BYTES = 50 * MEBIBYTE
export const MAX_TEXT_BYTES = 12 * MEBIBYTE

const MAX_BYTES: Record<DocumentKind, number> = {
  pdf: MAX_PDF_BYTES,
  html: MAX_TEXT_BYTES,
  text: MAX_TEXT_BYTES,
  binary: 0,
}

/** A document that was read, and what kind it turned out to be. */
export type ReadDocument = PageText & { mediaType: string }

/**
 * Reads a response's document as text. UNSUPPORTED_MEDIA_TYPE where there is no text in it to read,
 * PAYLOAD_TOO_LARGE where there is more than is read.
 */
export const readDocument = async (
  response: Response,
  signal: AbortSignal,
): Promise<ReadDocument> => {
  const { essence, charset } = parseMediaType(response.headers.get('content-type'))
  const known = kindOf(essence)
  if (known === 'binary') {
    await response.body?.cancel()
    throw notText(essence, response)
  }
  const bytes = await readAtMost(response, known === undefined ? MAX_PDF_BYTES : MAX_BYTES[known])
  const kind = known ?? sniffKind(bytes, essence)
  if (kind === 'binary') throw notText(essence, response, bytes.byteLength)
  if (bytes.byteLength > MAX_BYTES[kind]) throw tooLarge(MAX_BYTES[kind])
  const mediaType = essence === '' ? NAMES[kind] : essence
  signal.throwIfAborted()
  if (kind === 'pdf') {
    const { pdfToText } = await import('./pdf.ts')
    return { mediaType: NAMES.pdf, ...(await pdfToText(bytes, signal)) }
  }
  const text = decodeText(bytes, charset).toWellFormed()
  if (kind === 'text') return { mediaType, text }
  const { htmlToMarkdown } = await import('./html.ts')
  return { mediaType, ...(await htmlToMarkdown(text, new URL(response.url))) }
}

/** The first words of a response that is an error, on one line. */
export const excerptOf = async (response: Response, maxChars: number): Promise<string> => {
  const { essence, charset } = parseMediaType(response.headers.get('content-type'))
  const known = kindOf(essence)
  if (known === 'binary' || known === 'pdf') {
    await response.body?.cancel()
    return ''
  }
  const bytes = await readAtMost(response, MAX_TEXT_BYTES)
  const kind = known ?? sniffKind(bytes, essence)
  if (kind === 'binary' || kind === 'pdf') return ''
  const text = decodeText(bytes, charset).toWellFormed()
  const { plainText } = await import('./plain.ts')
  const words = kind === 'html' ? await plainText(text, new URL(response.url)) : text
  return words
    .slice(0, 4 * maxChars)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, maxChars)
}

const NAMES: Record<Exclude<DocumentKind, 'binary'>, string> = {
  pdf: 'application/pdf',
  html: 'text/html',
  text: 'text/plain',
}

const readAtMost = async (response: Response, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    // Leaving the loop lets go of the connection.
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const tooLarge = (maxBytes: number): AppError =>
  new AppError(
    'PAYLOAD_TOO_LARGE',
    `The document has more than ${maxBytes / MEBIBYTE} MiB, which is the most that is read of its kind.`,
  )

const notText = (essence: string, response: Response, read?: number): AppError => {
  const told = response.headers.get('content-length')
  const bytes = read ?? (told !== null && /^\d{1,15}$/.test(told) ? Number(told) : undefined)
  const size = bytes === undefined ? 'of a size that it doesn’t tell' : `of ${bytes} bytes`
  return new AppError(
    'UNSUPPORTED_MEDIA_TYPE',
    `There is no text to read: it is ${essence || 'binary data'}, ${size}. ` +
      'HTML, PDF, plain text, JSON, XML and CSV can be read.',
  )
}
