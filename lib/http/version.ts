import type { Context } from 'hono'
import * as z from 'zod'
import { AppError } from '../core/errors.ts'

/** A version as an ETag, which the next change may repeat in If-Match. */
export const etagOf = (version: number): string => `"${version}"`

/** What If-Match may say: one version, or any. A proxy that compresses makes ETags weak. */
export const IfMatch = z.string().regex(/^((W\/)?"\d{1,15}"|\*)$/)

/**
 * The version that a change is meant for, or undefined where it is meant for any. VERSION_REQUIRED
 * where the route asks for one and gets not even `*`, BAD_REQUEST for what is none.
 */
export const readVersion = (
  context: Context,
  demand: 'optional' | 'required',
): number | undefined => {
  const text = context.req.header('if-match')?.trim()
  if (text === '*') return undefined
  if (text === undefined) {
    if (demand === 'optional') return undefined
    throw new AppError(
      'VERSION_REQUIRED',
      'Read it first, and repeat its ETag in If-Match: else a change of someone else could be lost. With * the change is meant for whatever is there.',
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

/** How often a change of whatever is there is tried while others change it. */
const ANY_VERSION_ATTEMPTS = 8

/**
 * Changes something of the version that was asked for, or of any: `change` writes on condition that
 * it is still of the version that it is given, and says undefined where it isn't. `read` finds it for
 * this caller anew: it may be another's by now. VERSION_MISMATCH where it is another version.
 */
export const changeVersion = async <T extends { version: number }, Done>(
  subject: T,
  asked: number | undefined,
  {
    change,
    read,
  }: { change: (current: T) => Promise<Done | undefined>; read: () => T | Promise<T> },
): Promise<Done> => {
  let current = subject
  for (let attempt = 1; ; attempt++) {
    if (asked !== undefined && asked !== current.version) throw versionMismatch(current.version)
    const done = await change(current)
    if (done !== undefined) return done
    current = await read()
    if (attempt === ANY_VERSION_ATTEMPTS) throw versionMismatch(current.version)
  }
}
