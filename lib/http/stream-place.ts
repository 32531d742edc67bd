import * as z from 'zod'
import { AppError } from '../core/errors.ts'
import type { Place } from '../workflow/watch.ts'

/** Places have six digits in their keys. */
const Count = z.int().min(0).max(999_999)
/** The history, the events, the first step that is open, and whether the end was told. */
const Written = z.tuple([Count, Count, Count.nullable(), z.boolean()])

/** A place in a task's stream, opaque to clients: the id of each message. */
export const encodeStreamPlace = (
  { history, event, open }: Place,
  { isEnd = false }: { isEnd?: boolean } = {},
): string =>
  Buffer.from(JSON.stringify([history, event, open ?? null, isEnd])).toString('base64url')

/** The place that a client has come to, or BAD_REQUEST. */
export const decodeStreamPlace = (text: string): { place: Place; isEnd: boolean } => {
  const { data } = Written.safeParse(parse(Buffer.from(text, 'base64url').toString()))
  if (!data)
    throw new AppError(
      'BAD_REQUEST',
      'Last-Event-ID (or "after") must be the id of a message of this stream. Leave it out to start anew.',
    )
  const [history, event, open, isEnd] = data
  return { place: { history, event, ...(open === null ? {} : { open }) }, isEnd }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
