import { cut } from '../core/clip.ts'
import type { Id } from '../core/ids.ts'
import type { Json } from '../tool/serialize.ts'
import { keepResult } from './kept-result.ts'

/** What is shown of a text that is too long, in characters. */
const PREVIEW_CHARS = 2_000
/** What a character takes in JSON at most, as `\u0000` does. */
const MAX_JSON_BYTES = 6
/** What people see of a result's data beside it, in bytes of JSON. */
export const MAX_DATA_BYTES = 256 * 1024
/**
 * What is shown of a result's text whatever its tool lets through, in bytes of JSON: with the data it
 * has room in one answer (`http/room.ts`).
 */
export const MAX_CONTENT_BYTES = 2.25 * 1024 * 1024

/**
 * A text that a model can read: one that is too long is kept whole in the bucket, under
 * `results/<call>/`, and a note in its place shows its beginning and says where the rest is.
 */
export const shortenText = async (
  callId: Id<'call'>,
  text: string,
  maxChars: number,
): Promise<string> => {
  if (text.length <= maxChars && fitsAnAnswer(text)) return text
  const fullOutput = await keepResult(callId, text, 'text/plain; charset=utf-8')
  return noteOf(text, { maxChars, fullOutput })
}

const fitsAnAnswer = (text: string): boolean =>
  text.length * MAX_JSON_BYTES <= MAX_CONTENT_BYTES ||
  Buffer.byteLength(JSON.stringify(text)) <= MAX_CONTENT_BYTES

/** What stands in a long text's place: it is no longer than the text might have been. */
export const noteOf = (
  text: string,
  { maxChars, fullOutput }: { maxChars: number; fullOutput: string },
): string => {
  const noteWith = (previewChars: number) =>
    JSON.stringify({
      truncated: true,
      original_size_chars: text.length,
      cap_chars: maxChars,
      preview: cut(text, previewChars),
      hint: 'The result is too long to show. Ask for less or for a part of it, or read on from full_output with the tool "tool_results".',
      full_output: fullOutput,
    })
  let chars = PREVIEW_CHARS
  // Each character may be six in JSON.
  while (chars > 0 && noteWith(chars).length > maxChars) chars = Math.floor(chars / 2)
  return noteWith(chars)
}

/** A result's data as an answer can hold it; longer data is kept whole in the bucket. */
export const shortenData = async (callId: Id<'call'>, data: Json): Promise<Json> => {
  const text = JSON.stringify(data)
  const bytes = Buffer.byteLength(text)
  if (bytes <= MAX_DATA_BYTES) return data
  return {
    truncated: true,
    original_size_bytes: bytes,
    preview: cut(text, PREVIEW_CHARS),
    full_output: await keepResult(callId, text, 'application/json'),
  }
}
