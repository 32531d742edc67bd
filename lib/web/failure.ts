import { AppError } from '../core/errors.ts'

/**
 * Where a request goes, for a message: scheme, host and port. Paths and queries often are secrets, and
 * a message reaches records, people and models.
 */
export const placeOf = (url: URL): string => url.origin

/** A request that the guard doesn't let out. */
export const refused = (what: string, why: string): AppError =>
  new AppError('FETCH_REFUSED', `${what} is not fetched: ${why}`)

/** A request that went out, or tried to, and came to nothing. */
export const failed = (url: URL, problem: string, options: { cause?: unknown } = {}): AppError =>
  new AppError('FETCH_FAILED', `${placeOf(url)} ${problem}`, options)

/** What became of a connection, from the code that Node gives its error. */
export const connectionFailure = (url: URL, error: unknown): AppError => {
  if (error instanceof AppError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return failed(url, problemOf(code), { cause: error })
}

const problemOf = (code: string): string => {
  if (code === 'ECONNREFUSED') return 'accepts no connection on this port.'
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return 'closed the connection before its answer was complete.'
  if (code === 'HPE_HEADER_OVERFLOW') return 'sends more headers than are read.'
  if (code.startsWith('HPE_')) return 'sends something that is not HTTP.'
  if (CERTIFICATE.test(code))
    return `has no certificate that can be trusted for this name (${code}). Nothing was sent.`
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) return 'speaks no TLS that can be used here.'
  return `can’t be reached${code ? ` (${code})` : ''}.`
}

/** OpenSSL's reasons against a certificate, and Node's own one. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|INVALID_CA|PATH_LENGTH|HOSTNAME_MISMATCH/
