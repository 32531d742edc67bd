/**
 * The closed list of error codes, each with its HTTP status. Nothing else leaves the platform:
 * an error that is not an AppError is INTERNAL, and its text stays in the log.
 */
export const ERROR_STATUS = {
  BAD_REQUEST: 400,
  INVALID_JSON: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  TOOL_DISABLED: 403,
  OPERATION_DISABLED: 403,
  CSRF_INVALID: 403,
  SIGN_IN_REFUSED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  INVALID_STATE: 409,
  GROUP_HAS_AGENTS: 409,
  LLM_CONFIGURATION_IN_USE: 409,
  ROLE_RULE_VIOLATION: 409,
  DIGEST_MISMATCH: 409,
  TOOL_UNAVAILABLE: 409,
  REQUEST_IN_PROGRESS: 409,
  VERSION_MISMATCH: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  MISDIRECTED_REQUEST: 421,
  VALIDATION_ERROR: 422,
  IDEMPOTENCY_MISMATCH: 422,
  DECRYPTION_FAILED: 422,
  SETTING_MISSING: 422,
  FETCH_REFUSED: 422,
  VERSION_REQUIRED: 428,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  ANSWER_TOO_LARGE: 500,
  INVALID_DEFINITION: 500,
  NOT_CONFIGURED: 500,
  MODEL_ERROR: 502,
  FETCH_FAILED: 502,
  SIGN_IN_FAILED: 502,
  VERSION_TOO_NEW: 503,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** The one error class: a code, a message that says what to do, and details that may be shown. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: unknown

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: unknown; cause?: unknown } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'AppError'
    this.code = code
    this.details = options.details
  }
}

/** Whether an error is ours and has one of these codes. */
export const hasCode = (error: unknown, ...codes: ErrorCode[]): boolean =>
  error instanceof AppError && codes.includes(error.code)

/** An Idempotency-Key that stands for another request already. */
export const otherRequest = (): AppError =>
  new AppError(
    'IDEMPOTENCY_MISMATCH',
    'This Idempotency-Key was used for another request. Use a new one.',
  )

/** 401, worded alike for no key and for one that doesn't count any more. */
export const unauthenticated = (): AppError =>
  new AppError(
    'UNAUTHENTICATED',
    'Send a valid key in the header "Authorization: Bearer <key>", or sign in at /sign-in. What was revoked or has expired counts no more.',
  )

/** 404, worded alike for what does not exist and for what is not the caller's. */
export const notFound = (what: string, id: string): AppError =>
  new AppError('NOT_FOUND', `There is no ${what} "${id}", or it is not yours.`)

/** Whether an error tells its caller no, rather than of a fault of the platform's own. */
export const isRefusal = (error: unknown): error is AppError =>
  error instanceof AppError && ERROR_STATUS[error.code] < 500
