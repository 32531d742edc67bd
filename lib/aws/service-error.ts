/** What a service of AWS answers in place of a result. */
type Answer = {
  /** The service's own name of what went wrong: `ConditionalCheckFailedException`. */
  code: string
  message: string
  status: number
  requestId?: string | undefined
  /** What else the answer holds, such as the item that a condition failed on. */
  details?: object
}

/** An error that a service answered with, in the form that the SDK's own exceptions have. */
export class ServiceError extends Error {
  readonly $fault: 'client' | 'server'
  readonly $metadata: { httpStatusCode: number; requestId?: string | undefined }

  constructor({ code, message, status, requestId, details = {} }: Answer) {
    // Below its first line, the message about a signature has all that was signed: a session's token.
    super(message.split('\n', 1)[0])
    Object.assign(this, details)
    this.name = code
    this.$fault = status >= 500 ? 'server' : 'client'
    this.$metadata = { httpStatusCode: status, requestId }
  }
}

/** Whether a service answered with one of these codes. */
export const isAnswer = (error: unknown, ...codes: string[]): error is ServiceError =>
  error instanceof Error && '$fault' in error && codes.includes(error.name)
