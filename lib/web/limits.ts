/** What one fetch may take; a request, or whoever makes the fetch, may ask for less and never for more. */
export type Limits = {
  /** Of a body, after each of its encodings is undone, and as it arrives. */
  maxBodyBytes: number
  /** Of a request's own body, which is held so that a redirect can repeat it. */
  maxRequestBytes: number
  /** Of a response's status line and headers together. */
  maxHeaderBytes: number
  /** Redirects that are followed; 0 follows none. */
  maxRedirects: number
  /** Of a `Content-Encoding` with several codings. */
  maxEncodings: number
  /** For one hop's name to be resolved, and for its connection with TLS. */
  connectTimeoutMs: number
  /** From the connection until all headers of the response are there. */
  firstByteTimeoutMs: number
  /** Between two pieces of a body, while somebody waits for the next. */
  idleTimeoutMs: number
  /** From the call until the body's end, whatever it consists of. */
  totalTimeoutMs: number
}

const MEBIBYTE = 1_024 ** 2

export const LIMITS = {
  maxBodyBytes: 100 * MEBIBYTE,
  maxRequestBytes: 16 * MEBIBYTE,
  // What Node takes of headers unless told otherwise.
  maxHeaderBytes: 16 * 1_024,
  // Of the 20 that browsers follow, chains of honest sites use a few.
  maxRedirects: 10,
  maxEncodings: 2,
  connectTimeoutMs: 10_000,
  firstByteTimeoutMs: 20_000,
  idleTimeoutMs: 10_000,
  // An operation has 25 seconds, so this is for whoever fetches without one.
  totalTimeoutMs: 30_000,
} as const satisfies Limits

/**
 * The limits with what was asked for in place of what is higher; a ceiling stands in place of the
 * usual ones.
 */
export const lowered = (
  asked: (Partial<Limits> | undefined)[],
  ceiling: Partial<Limits> = {},
): Limits => {
  const limits: Limits = { ...LIMITS, ...ceiling }
  for (const name of Object.keys(LIMITS) as (keyof Limits)[])
    for (const wish of asked)
      limits[name] = Math.max(0, Math.min(limits[name], wish?.[name] ?? limits[name]))
  return limits
}
