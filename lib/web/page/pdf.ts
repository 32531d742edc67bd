import { promisify } from 'node:util'
import { constants, inflate } from 'node:zlib'
import { AppError } from '../../core/errors.ts'
import type { PageText } from './html.ts'

/** Pages of a PDF that are read, and characters: more than any model reads of one document. */
export const MAX_PDF_PAGES = 2_000
export const MAX_PDF_CHARS = 4_000_000
/** What the streams of a PDF may unpack to together: pages of text take a few KB each. */
export const MAX_UNPACKED_BYTES = 128 * 1_024 ** 2
/** A stream in a stream in a stream, as filters can be chained. */
const MAX_LAYERS = 3
const STREAM_START = /stream\r?\n/g
const DEFLATE = 8

/** Nothing is drawn, so it needs no fonts; and it prints no warnings about what others wrote. */
const READING = { disableFontFace: true, useSystemFonts: false, useWasm: false, verbosity: 0 }

/** The text of a PDF, page by page. VALIDATION_ERROR for one that can't be read, saying why. */
export const pdfToText = async (bytes: Uint8Array, signal: AbortSignal): Promise<PageText> => {
  await checkStreams(bytes, signal)
  const { getDocumentProxy } = await import('unpdf')
  // A copy: its reader takes the memory away from whoever gave it.
  const document = await getDocumentProxy(new Uint8Array(bytes), READING).catch(
    (error: unknown) => {
      throw unreadable(error)
    },
  )
  try {
    const parts: string[] = []
    let chars = 0
    let number = 1
    for (; number <= document.numPages && number <= MAX_PDF_PAGES; number++) {
      signal.throwIfAborted()
      if (chars > MAX_PDF_CHARS) break
      const page = await document.getPage(number)
      const { items } = await page.getTextContent()
      page.cleanup()
      const text = items
        .map(item => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
        .join('')
      parts.push(`[Page ${number} of ${document.numPages}]\n\n${text.trim()}`)
      chars += text.length
    }
    const { info } = await document.getMetadata()
    const title = 'Title' in info && typeof info.Title === 'string' ? info.Title.trim() : ''
    return {
      ...(title === '' ? {} : { title }),
      text: parts.join('\n\n'),
      ...noteOf({ chars, read: number - 1, pages: document.numPages }),
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw unreadable(error)
  } finally {
    await document.loadingTask.destroy()
  }
}

const noteOf = ({ chars, read, pages }: { chars: number; read: number; pages: number }) => {
  if (chars === 0) return { note: 'The PDF holds no text; its pages may be images.' }
  return read < pages ? { note: `Only the first ${read} of its ${pages} pages were read.` } : {}
}

/**
 * Unpacks what a PDF holds, one stream after the other, before its reader keeps all of them: a few MB
 * can become many GB. What is packed in another way than deflate, as nearly nothing is, passes.
 */
const checkStreams = async (bytes: Uint8Array, signal: AbortSignal): Promise<void> => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  let left = MAX_UNPACKED_BYTES
  for (const match of text.matchAll(STREAM_START)) {
    signal.throwIfAborted()
    const start = match.index + match[0].length
    if (!isZlib(bytes.subarray(start))) continue
    const end = text.indexOf('endstream', start)
    left -= await unpackedBytes(bytes.subarray(start, end < 0 ? undefined : end), left)
  }
}

/** RFC 1950: the method is deflate, and the first two bytes are a multiple of 31. */
const isZlib = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0xf) === DEFLATE && (first * 256 + second) % 31 === 0

/** How much comes out of a stream, and of the streams in it. */
const unpackedBytes = async (packed: Uint8Array, most: number): Promise<number> => {
  let total = 0
  let layer = packed
  for (let layers = 0; layers < MAX_LAYERS && isZlib(layer); layers++) {
    layer = await unpack(layer, most - total)
    total += layer.byteLength
  }
  return total
}

const unpack = async (packed: Uint8Array, most: number): Promise<Uint8Array> => {
  try {
    // One that was cut off gives what there is of it, as it does to PDF readers.
    return await promisify(inflate)(packed, {
      maxOutputLength: Math.max(1, most),
      finishFlush: constants.Z_SYNC_FLUSH,
    })
  } catch (error) {
    if (error instanceof RangeError)
      throw new AppError(
        'VALIDATION_ERROR',
        `The PDF unpacks to more than ${MAX_UNPACKED_BYTES} bytes, so it is not read.`,
      )
    // No deflated stream, or a broken one: what reads the PDF will say so.
    return new Uint8Array()
  }
}

const unreadable = (error: unknown): AppError =>
  new AppError(
    'VALIDATION_ERROR',
    error instanceof Error && error.name === 'PasswordException'
      ? 'The PDF needs a password, so it can’t be read.'
      : 'The PDF is damaged, so it can’t be read.',
    { cause: error },
  )
