import type { Context } from 'hono'
import * as z from 'zod'
import { sha256 } from '../call/digest.ts'
import { AppError, otherRequest } from '../core/errors.ts'
import { derivedId, type Id, type IdKind, newId } from '../core/ids.ts'
import { invalid, problemsOf } from '../core/problems.ts'
import { wellFormed } from '../core/well-formed.ts'
import type { Caller } from '../principal/caller.ts'

/** An Idempotency-Key's length, in characters. */
export const MAX_IDEMPOTENCY_KEY_CHARS = 255
/** A page's size: the default and the most. */
const DEFAULT_PAGE = 20
export const MAX_PAGE = 100
const LIMIT_PROBLEM = `must be a whole number from 1 to ${MAX_PAGE}`

/** The JSON body, checked by a schema; every problem is named at once. */
export const readBody = async <T>(context: Context, schema: z.ZodType<T>): Promise<T> => {
  const parsed = schema.safeParse(await readJson(context))
  if (parsed.success) return parsed.data
  throw invalid('The body is not valid.', problemsOf(parsed.error.issues, { root: 'body' }))
}

/** An object as it came: a record's schema would drop a key named `__proto__` without a word. */
export const objectOf = (what: string) =>
  z
    .custom<Record<string, unknown>>(
      value => typeof value === 'object' && value !== null && !Array.isArray(value),
      `must be an object of ${what}`,
    )
    .meta({ type: 'object', description: `An object of ${what}.` })

/**
 * The body as JSON: UNSUPPORTED_MEDIA_TYPE, INVALID_JSON and VALIDATION_ERROR (nested too deep) say
 * what is wrong with it.
 */
const readJson = async (context: Context): Promise<unknown> => {
  const type = context.req.header('content-type') ?? ''
  if (!/^application\/(\S+\+)?json\b/i.test(type))
    throw new AppError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send JSON, with "Content-Type: application/json".',
    )
  const text = await context.req.text()
  if (text.trim() === '')
    throw new AppError('INVALID_JSON', 'The body is empty: send JSON, and be it {}.')
  return wellFormed(parseJson(text))
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const why = cause instanceof SyntaxError ? complaintOf(cause) : 'it is too large'
    throw new AppError('INVALID_JSON', `The body is not valid JSON: ${why}`)
  }
}

/** What the parser says, unless it repeats a part of the text: that may be of a password. */
const complaintOf = ({ message }: SyntaxError): string =>
  message.includes('"') ? 'look for quotes, commas and brackets that are wrong or missing' : message

/** How much of a list is asked for, and from where. */
export const PageQuery = z.object({
  limit: z.coerce
    .number<string>({ error: LIMIT_PROBLEM })
    .int({ error: LIMIT_PROBLEM })
    .min(1, { error: LIMIT_PROBLEM })
    .max(MAX_PAGE, { error: LIMIT_PROBLEM })
    .default(DEFAULT_PAGE)
    .describe('How many items a page has at most.'),
  cursor: z.string().optional().describe('Where the page begins: the next_cursor of the last one.'),
})
export type Page = { limit: number; cursor?: string }

/** The query, checked by a schema; BAD_REQUEST names every problem at once. */
export const readQuery = <T>(context: Context, schema: z.ZodType<T>): T => {
  const parsed = schema.safeParse(context.req.query())
  if (parsed.success) return parsed.data
  const problems = problemsOf(parsed.error.issues, { root: 'query' })
  throw new AppError(
    'BAD_REQUEST',
    problems.map(({ field, message }) => `"${field}" ${message}`).join(' '),
  )
}

export const readPage = (context: Context): Page => {
  const { limit, cursor } = readQuery(context, PageQuery)
  return { limit, ...(cursor ? { cursor } : {}) }
}

export const IdempotencyKey = z.string().min(1).max(MAX_IDEMPOTENCY_KEY_CHARS)

/** The Idempotency-Key header, if there is one. */
export const idempotencyKey = (context: Context): string | undefined => {
  const parsed = IdempotencyKey.optional().safeParse(context.req.header('idempotency-key'))
  if (parsed.success) return parsed.data
  throw new AppError(
    'BAD_REQUEST',
    `Idempotency-Key must have 1 to ${MAX_IDEMPOTENCY_KEY_CHARS} characters.`,
  )
}

/**
 * The id of what a POST makes, and the digest of what it asks: with an Idempotency-Key the id
 * follows from caller, route and key, so that trying again finds what the first try made.
 */
export const creationOf = <Kind extends IdKind>(
  kind: Kind,
  {
    caller,
    route,
    body,
    idempotencyKey: key,
  }: { caller: Caller; route: string; body: unknown; idempotencyKey: string | undefined },
): { id: Id<Kind>; requestHash: string } => ({
  id: key === undefined ? newId(kind) : derivedId(kind, caller.id, route, key),
  requestHash: sha256(body),
})

/** Refuses a key that was used for another body. */
export const sameRequest = (stored: string | undefined, asked: string): void => {
  if (stored !== asked) throw otherRequest()
}
