import type { Context } from 'hono'
import * as z from 'zod'
import { AppError } from '../core/errors.ts'

/** A version as an ETag, which the next change may repeat in If-Match. */
export const etagOf = (version: number): string => `"${version}"`

/** What If-Match may say: one version. A proxy that compresses makes ETags weak. */
export const IfMatch = z.string().regex(/^(W\/)?"\d{1,15}"$/)

/**
 * The version that a change is meant for, or undefined where it is meant for any. VERSION_REQUIRED
 * where the route asks for one, BAD_REQUEST for what is none.
 */
export const readVersion = (
  context: Context,
  demand: 'optional' | 'required',
): number | undefined => {
  const text = context.req.header('if-match')?.trim()
  if (text === undefined || text === '*') {
    if (demand === 'optional') return undefined
    throw new AppError(
      'VERSION_REQUIRED',
      'Read it first, and repeat its ETag in If-Match: else a change of someone else could be lost.',
    )
  }
  if (IfMatch.safeParse(text).success) return Number(/\d+/.exec(text)?.[0])
  throw new AppError(
    'BAD_REQUEST',
    'If-Match must repeat one ETag as it was answered, such as "3".',
  )
}

/** 412: what a change was meant for is another by now. */
export const versionMismatch = (version: number): AppError =>
  new AppError(
    'VERSION_MISMATCH',
    'Someone else has changed it since. Read it again, and say what of your change still holds.',
    { details: { version } },
  )
